#pragma once

// The contract and the toolkit as one tree: everything a backend includes.

#include <backplane/sdk.h>
#include <backplane/toolkit/device_progress.h>
#include <backplane/toolkit/error_graph.h>
#include <backplane/toolkit/failures.h>
#include <backplane/toolkit/host_storage.h>
#include <backplane/toolkit/layout.h>
#include <backplane/toolkit/memory_management.h>
#include <backplane/toolkit/metadata_cache.h>
#include <backplane/toolkit/page_guard.h>
#include <backplane/toolkit/pitched_copy.h>
#include <backplane/toolkit/slice.h>
#include <backplane/toolkit/storage.h>
#include <backplane/toolkit/taint.h>
