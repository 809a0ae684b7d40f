#include <backplane/toolkit/page_guard.h>

#include "page_store.h"

namespace backplane::toolkit {

PageGuard::PageGuard(PageStore& store, Page& page) noexcept : store_(&store), page_(&page) {
  store.guard(page);
}

PageGuard::~PageGuard() {
  if (page_ != nullptr) store_->unguard(*page_);
}

}  // namespace backplane::toolkit
