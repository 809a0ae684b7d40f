#pragma once

/// Marks what libbackplane exports; everything else in it is hidden.
#if defined(_WIN32)
#if defined(BACKPLANE_CORE_BUILDING)
#define BACKPLANE_API __declspec(dllexport)
#else
#define BACKPLANE_API __declspec(dllimport)
#endif
#else
#define BACKPLANE_API __attribute__((visibility("default")))
#endif
