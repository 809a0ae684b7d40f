#pragma once

// Everything an application includes.

#include <backplane/buffer.h>
#include <backplane/client.h>
#include <backplane/file_bytes.h>
#include <backplane/kernel.h>
#include <backplane/log.h>
#include <backplane/runtime.h>
#include <backplane/scalars.h>
#include <backplane/stream.h>
#include <backplane/version.h>
