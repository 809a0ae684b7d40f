#pragma once

// The whole contract between the host and its plugins: everything a backend that uses no toolkit includes.

#include <backplane/contract/bytes.h>
#include <backplane/contract/collective.h>
#include <backplane/contract/deferred.h>
#include <backplane/contract/device.h>
#include <backplane/contract/element.h>
#include <backplane/contract/error.h>
#include <backplane/contract/host.h>
#include <backplane/contract/id.h>
#include <backplane/contract/kernel.h>
#include <backplane/contract/memory.h>
#include <backplane/contract/plugin.h>
#include <backplane/contract/profile.h>
#include <backplane/contract/result.h>
#include <backplane/contract/server.h>
#include <backplane/contract/tensor_map.h>
#include <backplane/contract/toolchain.h>
#include <backplane/contract/transfer.h>
#include <backplane/contract/translator.h>
#include <backplane/contract/version.h>
