#pragma once

// The contract and the toolkit as one tree: everything a backend includes.

#include <backplane/sdk.h>
#include <backplane/toolkit/error_graph.h>
#include <backplane/toolkit/failures.h>
#include <backplane/toolkit/pitched_copy.h>
#include <backplane/toolkit/taint.h>
