#include <algorithm>
#include <ranges>
#include <utility>

#include <backplane/toolkit/error_graph.h>

namespace backplane::toolkit {
namespace {

std::string quoted(const std::string& label) {
  return label.empty() ? std::string("without a label") : '"' + label + '"';
}

bool wrote(const ErrorGraph::Skip& skip, ErrorGraph::AllocationSerial allocation) {
  return std::ranges::find(skip.written, allocation) != skip.written.end();
}

}  // namespace

FailureId ErrorGraph::add(Error error, std::string operation) {
  const FailureId id{++last_id_};
  nodes_.emplace(id, Node{std::move(error), std::move(operation), 0, 0, {}});
  return id;
}

void ErrorGraph::retain(FailureId failure) {
  if (failure != kProvisionalFailure) ++nodes_.at(failure).carriers;
}

void ErrorGraph::release(FailureId failure) {
  if (failure == kProvisionalFailure) return;
  const auto node = nodes_.find(failure);
  if (--node->second.carriers == 0) nodes_.erase(node);
}

void ErrorGraph::release_unless_carried(FailureId failure) {
  const auto node = nodes_.find(failure);
  if (node != nodes_.end() && node->second.carriers == 0) nodes_.erase(node);
}

void ErrorGraph::skip(FailureId failure, Skip skip) {
  const auto found = nodes_.find(failure);
  if (found == nodes_.end()) return;  // work that was entered and never left has nothing to report
  Node& node = found->second;
  ++node.skip_count;
  node.skips.push_back(std::move(skip));
  if (node.skips.size() > kKeptSkips) node.skips.pop_front();
}

Error ErrorGraph::report(FailureId failure, AllocationSerial allocation, const std::string& label) const {
  const std::string buffer = "Buffer " + quoted(label);
  const auto found = nodes_.find(failure);
  if (found == nodes_.end()) {
    return {ErrorCode::unwritten,
            buffer + " cannot be read: the work that was to write it was begun and never ended."};
  }
  const Node& node = found->second;
  std::string path;
  AllocationSerial wanted = allocation;
  for (const Skip& skip : node.skips | std::views::reverse) {
    if (!wrote(skip, wanted) || skip.needed == wanted) continue;  // a skip in place brought nothing here
    path += path.empty() ? ": kernel " + quoted(skip.kernel)
                         : ", which kernel " + quoted(skip.kernel) + " was to write; that";
    path += " was skipped because it needed buffer " + quoted(skip.needed_label);
    wanted = skip.needed;
  }
  if (path.empty()) return node.error;
  return Error(ErrorCode::skipped,
               buffer + " cannot be read" + path + ", which " + node.operation + " was to write; that failed")
      .caused_by(node.error);
}

std::uint64_t ErrorGraph::skip_count(FailureId failure) const {
  const auto node = nodes_.find(failure);
  return node == nodes_.end() ? 0 : node->second.skip_count;
}

}  // namespace backplane::toolkit
