#pragma once

// BACKPLANE_API marks what libbackplane offers; everything else in it is hidden.
#if defined(_WIN32)
#if defined(BACKPLANE_BUILDING_CORE)
#define BACKPLANE_API __declspec(dllexport)
#else
#define BACKPLANE_API __declspec(dllimport)
#endif
#else
#define BACKPLANE_API __attribute__((visibility("default")))
#endif
