#include "host_target.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <llvm/IR/Constants.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/MDBuilder.h>

#include <backplane/contract/translator.h>

#include "aliasing.h"
#include "failure.h"
#include "inlining.h"
#include "memory_image.h"
#include "names.h"

namespace backplane::translator {
namespace {

constexpr std::uint64_t kBufferAlignment = 16;
constexpr std::uint64_t kWorkgroupVariableAlignment = 64;
constexpr std::uint64_t kMaxZeroedBytes = 64;
constexpr std::uint64_t kMaxPrivateBytes = 256ULL * 1024;

/// A loop of which only the head is made yet.
struct OpenLoop {
  llvm::BasicBlock* head = nullptr;
  llvm::PHINode* index = nullptr;
};

/// Makes one version of the function that runs workgroups. Used once, by one thread.
class WorkgroupsFunction {
 public:
  /// `is_distinct` promises that no written buffer overlaps another.
  WorkgroupsFunction(const Translation& translation, const std::vector<std::uint64_t>& workgroup_offsets,
                     bool is_distinct)
      : translation_(translation),
        workgroup_offsets_(workgroup_offsets),
        builder_(translation.output().getContext()),
        is_distinct_(is_distinct) {}

  llvm::Function* build();
  /// To be called once calls in the function are inlined.
  void annotate() { annotate_accesses(*function_, roots_, access_group_); }

 private:
  llvm::Value* load_argument(llvm::Type* type, llvm::Value* base, std::uint64_t offset);
  void load_table();
  void load_buffer(const InterfaceVariable& variable);
  llvm::LoadInst* load_base(llvm::Value* base, std::uint64_t offset, std::uint64_t dereferenceable);
  llvm::Value* make_private(const InterfaceVariable& variable);
  void loop_over_workgroups();
  void loop_over_invocations();
  void begin_workgroup(llvm::Value* linear);
  void run_invocation(const std::array<llvm::Value*, 3>& local);
  void store_builtin(const InterfaceVariable& variable, llvm::Value* at,
                     const std::array<llvm::Value*, 3>& local);
  llvm::Value* builtin(const InterfaceVariable& variable, const std::array<llvm::Value*, 3>& local);
  void fill(const InterfaceVariable& variable, llvm::Value* at);
  llvm::Value* vector(const std::array<llvm::Value*, 3>& parts);
  OpenLoop open_loop(llvm::Value* first);
  void close_loop(const OpenLoop& loop, llvm::Value* end, llvm::MDNode* identity);
  llvm::MDNode* invocation_loop_identity();

  const Translation& translation_;
  const std::vector<std::uint64_t>& workgroup_offsets_;
  llvm::IRBuilder<> builder_;
  bool is_distinct_;
  llvm::Function* function_ = nullptr;
  llvm::MDNode* access_group_ = nullptr;
  std::vector<MemoryRoot> roots_;
  std::vector<llvm::Value*> invocation_arguments_;
  std::array<llvm::Value*, 3> counts_{};
  std::array<llvm::Value*, 3> sizes_{};
  std::array<llvm::Value*, 3> workgroup_{};
  std::array<llvm::Value*, 3> first_global_{};
};

llvm::FunctionType* kernel_type(llvm::LLVMContext& context) {
  llvm::Type* index = llvm::Type::getInt64Ty(context);
  return llvm::FunctionType::get(llvm::Type::getVoidTy(context),
                                 {llvm::PointerType::get(context, 0), index, index}, false);
}

llvm::Function* make_kernel_function(llvm::Module& module, llvm::GlobalValue::LinkageTypes linkage,
                                     const char* name) {
  llvm::Function* made = llvm::Function::Create(kernel_type(module.getContext()), linkage, name, module);
  made->addFnAttr(llvm::Attribute::NoUnwind);
  // Touches every page of a large frame in order, so that an overflow meets the guard page.
  made->addFnAttr("probe-stack", "inline-asm");
  made->addFnAttr("no-trapping-math", "true");
  return made;
}

llvm::Value* WorkgroupsFunction::load_argument(llvm::Type* type, llvm::Value* base, std::uint64_t offset) {
  llvm::Value* at = builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), base, offset);
  llvm::LoadInst* loaded = builder_.CreateLoad(type, at);
  loaded->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(builder_.getContext(), {}));
  return loaded;
}

/// Loads the address of a region whose alignment, and first bytes, can be relied on.
llvm::LoadInst* WorkgroupsFunction::load_base(llvm::Value* base, std::uint64_t offset,
                                              std::uint64_t dereferenceable) {
  auto* loaded = llvm::cast<llvm::LoadInst>(load_argument(builder_.getPtrTy(), base, offset));
  const auto amount = [&](std::uint64_t value) {
    return llvm::MDNode::get(builder_.getContext(),
                             {llvm::ConstantAsMetadata::get(builder_.getInt64(value))});
  };
  loaded->setMetadata(llvm::LLVMContext::MD_align, amount(kBufferAlignment));
  if (dereferenceable != 0) {
    loaded->setMetadata(llvm::LLVMContext::MD_dereferenceable, amount(dereferenceable));
  }
  return loaded;
}

void WorkgroupsFunction::load_buffer(const InterfaceVariable& variable) {
  llvm::Value* table =
      load_argument(builder_.getPtrTy(), function_->getArg(0), offsetof(HostKernelArguments, buffers));
  const std::uint64_t entry = variable.binding * sizeof(HostBuffer);
  llvm::Value* data = load_base(table, entry + offsetof(HostBuffer, data), 0);
  roots_.push_back(
      {.address = data, .is_separate = is_distinct_ || variable.is_restrict, .is_serial = false});
  invocation_arguments_.push_back(data);
  invocation_arguments_.push_back(
      load_argument(builder_.getInt64Ty(), table, entry + offsetof(HostBuffer, byte_count)));
}

llvm::Value* WorkgroupsFunction::make_private(const InterfaceVariable& variable) {
  llvm::Type* bytes = llvm::ArrayType::get(builder_.getInt8Ty(), variable.type->size);
  llvm::AllocaInst* memory = builder_.CreateAlloca(bytes, nullptr, "private");
  memory->setAlignment(llvm::Align(16));
  return memory;
}

void WorkgroupsFunction::load_table() {
  llvm::Value* arguments = function_->getArg(0);
  llvm::Value* workgroup_memory = nullptr;
  for (std::size_t index = 0; index < translation_.interface().size(); ++index) {
    const InterfaceVariable& variable = translation_.interface()[index];
    switch (variable.storage) {
      case spv::StorageClass::StorageBuffer:
      case spv::StorageClass::Uniform:
        load_buffer(variable);
        break;
      case spv::StorageClass::PushConstant: {
        llvm::Value* scalars =
            load_base(arguments, offsetof(HostKernelArguments, scalars), variable.type->size);
        roots_.push_back({.address = scalars, .is_separate = true, .is_serial = false});
        invocation_arguments_.push_back(scalars);
        break;
      }
      case spv::StorageClass::Workgroup:
        if (workgroup_memory == nullptr) {
          workgroup_memory = load_base(arguments, offsetof(HostKernelArguments, workgroup_memory), 0);
          roots_.push_back({.address = workgroup_memory, .is_separate = true, .is_serial = true});
        }
        invocation_arguments_.push_back(
            builder_.CreateConstGEP1_64(builder_.getInt8Ty(), workgroup_memory, workgroup_offsets_[index]));
        break;
      default:
        invocation_arguments_.push_back(make_private(variable));
    }
  }
  for (unsigned axis = 0; axis < 3; ++axis) {
    const std::uint64_t at = offsetof(HostKernelArguments, count) + axis * sizeof(std::uint32_t);
    counts_[axis] = load_argument(builder_.getInt32Ty(), arguments, at);
    sizes_[axis] = builder_.getInt32(translation_.workgroup_size()[axis]);
  }
}

OpenLoop WorkgroupsFunction::open_loop(llvm::Value* first) {
  llvm::BasicBlock* before = builder_.GetInsertBlock();
  OpenLoop loop;
  loop.head = llvm::BasicBlock::Create(builder_.getContext(), "loop", function_);
  builder_.CreateBr(loop.head);
  builder_.SetInsertPoint(loop.head);
  loop.index = builder_.CreatePHI(first->getType(), 2);
  loop.index->addIncoming(first, before);
  return loop;
}

void WorkgroupsFunction::close_loop(const OpenLoop& loop, llvm::Value* end, llvm::MDNode* identity) {
  llvm::Value* next =
      builder_.CreateAdd(loop.index, llvm::ConstantInt::get(loop.index->getType(), 1), "", true, true);
  llvm::BasicBlock* after = llvm::BasicBlock::Create(builder_.getContext(), "after", function_);
  loop.index->addIncoming(next, builder_.GetInsertBlock());
  llvm::BranchInst* back = builder_.CreateCondBr(builder_.CreateICmpULT(next, end), loop.head, after);
  if (identity != nullptr) {
    back->setMetadata(llvm::LLVMContext::MD_loop, identity);
  }
  builder_.SetInsertPoint(after);
}

llvm::MDNode* WorkgroupsFunction::invocation_loop_identity() {
  llvm::LLVMContext& context = builder_.getContext();
  const auto property = [&](const char* name, llvm::Metadata* value) {
    std::vector<llvm::Metadata*> parts = {llvm::MDString::get(context, name)};
    if (value != nullptr) {
      parts.push_back(value);
    }
    return llvm::MDNode::get(context, parts);
  };
  llvm::Metadata* yes = llvm::ConstantAsMetadata::get(builder_.getTrue());
  // A short loop of known length would be unrolled before the vectoriser sees it.
  llvm::MDNode* identity = llvm::MDNode::getDistinct(
      context, {nullptr, property("llvm.loop.parallel_accesses", access_group_),
                property("llvm.loop.vectorize.enable", yes), property("llvm.loop.unroll.disable", nullptr)});
  identity->replaceOperandWith(0, identity);
  return identity;
}

void WorkgroupsFunction::begin_workgroup(llvm::Value* linear) {
  llvm::Type* wide = builder_.getInt64Ty();
  llvm::Value* rest = linear;
  for (unsigned axis = 0; axis < 3; ++axis) {
    llvm::Value* own = rest;
    if (axis < 2) {
      // A count of 0 makes an empty launch, whose division is never reached; the bound is for the optimiser,
      // which might hoist it.
      llvm::Value* count = builder_.CreateBinaryIntrinsic(
          llvm::Intrinsic::umax, builder_.CreateZExt(counts_[axis], wide), builder_.getInt64(1));
      own = builder_.CreateURem(rest, count);
      rest = builder_.CreateUDiv(rest, count);
    }
    workgroup_[axis] = builder_.CreateTrunc(own, builder_.getInt32Ty());
    // Launches stay below 2^31 invocations in each dimension, which lets addresses be affine in the loop's
    // index.
    first_global_[axis] = builder_.CreateMul(workgroup_[axis], sizes_[axis], "", true, true);
  }
  std::size_t argument = 0;
  for (const InterfaceVariable& variable : translation_.interface()) {
    if (variable.storage == spv::StorageClass::Workgroup && variable.initializer != nullptr) {
      fill(variable, invocation_arguments_[argument]);
    }
    argument += variable.is_buffer() ? 2U : 1U;
  }
}

void WorkgroupsFunction::fill(const InterfaceVariable& variable, llvm::Value* at) {
  const llvm::Align alignment(16);
  if (variable.initializer == nullptr || variable.initializer->isNullValue()) {
    builder_.CreateMemSet(at, builder_.getInt8(0), variable.type->size, alignment);
    return;
  }
  const std::vector<std::uint8_t> bytes = memory_image(*variable.initializer, *variable.type);
  llvm::Constant* image = llvm::ConstantDataArray::get(builder_.getContext(), bytes);
  auto* global = new llvm::GlobalVariable(translation_.output(), image->getType(), true,
                                          llvm::GlobalValue::PrivateLinkage, image, "initializer");
  global->setAlignment(alignment);
  builder_.CreateMemCpy(at, alignment, global, alignment, variable.type->size);
}

llvm::Value* WorkgroupsFunction::vector(const std::array<llvm::Value*, 3>& parts) {
  llvm::Value* made = llvm::PoisonValue::get(llvm::FixedVectorType::get(builder_.getInt32Ty(), 3));
  for (unsigned axis = 0; axis < 3; ++axis) {
    made = builder_.CreateInsertElement(made, parts[axis], axis);
  }
  return made;
}

llvm::Value* WorkgroupsFunction::builtin(const InterfaceVariable& variable,
                                         const std::array<llvm::Value*, 3>& local) {
  const auto add = [&](llvm::Value* a, llvm::Value* b) { return builder_.CreateAdd(a, b, "", true, true); };
  const auto multiply = [&](llvm::Value* a, llvm::Value* b) {
    return builder_.CreateMul(a, b, "", true, true);
  };
  const spv::BuiltIn wanted = variable.builtin.value_or(spv::BuiltIn::Max);
  switch (wanted) {
    case spv::BuiltIn::NumWorkgroups:
      return vector(counts_);
    case spv::BuiltIn::WorkgroupSize:
      return vector(sizes_);
    case spv::BuiltIn::WorkgroupId:
      return vector(workgroup_);
    case spv::BuiltIn::LocalInvocationId:
      return vector(local);
    case spv::BuiltIn::GlobalInvocationId:
      return vector({add(first_global_[0], local[0]), add(first_global_[1], local[1]),
                     add(first_global_[2], local[2])});
    case spv::BuiltIn::LocalInvocationIndex:
      return add(multiply(add(multiply(local[2], sizes_[1]), local[1]), sizes_[0]), local[0]);
    default:
      fail_unsupported(*variable.definition, "the built-in " + builtin_name(wanted) + " is not supported");
  }
}

void WorkgroupsFunction::store_builtin(const InterfaceVariable& variable, llvm::Value* at,
                                       const std::array<llvm::Value*, 3>& local) {
  llvm::Value* made = builtin(variable, local);
  if (made->getType() != variable.type->value) {
    fail_malformed(*variable.definition, "a built-in has another type");
  }
  builder_.CreateAlignedStore(made, at, llvm::Align(4));
}

void WorkgroupsFunction::run_invocation(const std::array<llvm::Value*, 3>& local) {
  std::size_t argument = 0;
  for (const InterfaceVariable& variable : translation_.interface()) {
    llvm::Value* at = invocation_arguments_[argument];
    if (variable.storage == spv::StorageClass::Input) {
      store_builtin(variable, at, local);
    } else if (variable.storage == spv::StorageClass::Private &&
               (variable.initializer != nullptr || variable.type->size <= kMaxZeroedBytes)) {
      fill(variable, at);
    }
    argument += variable.is_buffer() ? 2U : 1U;
  }
  builder_.CreateCall(translation_.invocation(), invocation_arguments_);
}

void WorkgroupsFunction::loop_over_invocations() {
  llvm::Value* zero = builder_.getInt32(0);
  const OpenLoop z = open_loop(zero);
  const OpenLoop y = open_loop(zero);
  const OpenLoop x = open_loop(zero);
  run_invocation({x.index, y.index, z.index});
  close_loop(x, sizes_[0], invocation_loop_identity());
  close_loop(y, sizes_[1], nullptr);
  close_loop(z, sizes_[2], nullptr);
}

void WorkgroupsFunction::loop_over_workgroups() {
  llvm::Value* begin = function_->getArg(1);
  llvm::Value* end = function_->getArg(2);
  llvm::BasicBlock* start = llvm::BasicBlock::Create(builder_.getContext(), "workgroups", function_);
  llvm::BasicBlock* done = llvm::BasicBlock::Create(builder_.getContext(), "done", function_);
  builder_.CreateCondBr(builder_.CreateICmpULT(begin, end), start, done);
  builder_.SetInsertPoint(start);
  const OpenLoop workgroups = open_loop(begin);
  begin_workgroup(workgroups.index);
  loop_over_invocations();
  close_loop(workgroups, end, nullptr);
  builder_.CreateBr(done);
  builder_.SetInsertPoint(done);
  builder_.CreateRetVoid();
}

llvm::Function* WorkgroupsFunction::build() {
  function_ = make_kernel_function(translation_.output(), llvm::GlobalValue::InternalLinkage,
                                   is_distinct_ ? "workgroups_distinct" : "workgroups_overlapping");
  function_->addFnAttr(llvm::Attribute::NoInline);
  access_group_ = llvm::MDNode::getDistinct(builder_.getContext(), {});
  builder_.SetInsertPoint(llvm::BasicBlock::Create(builder_.getContext(), "entry", function_));
  load_table();
  loop_over_workgroups();
  return function_;
}

/// Where each workgroup variable starts, indexed as the interface, then the bytes of all.
std::vector<std::uint64_t> place_workgroup_variables(const Translation& translation) {
  std::vector<std::uint64_t> offsets;
  std::uint64_t total = 0;
  std::uint64_t private_bytes = 0;
  for (const InterfaceVariable& each : translation.interface()) {
    offsets.push_back(total);
    const bool is_pointer = each.type->kind == TypeKind::pointer || each.type->kind == TypeKind::function;
    if (is_pointer || (each.type->value == nullptr && !each.is_buffer())) {
      fail_unsupported(*each.definition, "a variable of that type");
    }
    if (each.storage == spv::StorageClass::Workgroup) {
      total += (each.type->size + kWorkgroupVariableAlignment - 1) / kWorkgroupVariableAlignment *
               kWorkgroupVariableAlignment;
    } else if (each.storage == spv::StorageClass::Private) {
      private_bytes += each.type->size;
      if (private_bytes > kMaxPrivateBytes) {
        fail_unsupported(*each.definition, "an invocation needs more than " +
                                               std::to_string(kMaxPrivateBytes) + " bytes of private memory");
      }
    }
  }
  offsets.push_back(total);
  return offsets;
}

struct BufferRange {
  const InterfaceVariable* variable;
  bool is_written;
};

std::vector<BufferRange> buffers_to_compare(const Translation& translation) {
  std::vector<BufferRange> buffers;
  const std::vector<bool> written = written_arguments(*translation.invocation());
  std::size_t argument = 0;
  for (const InterfaceVariable& variable : translation.interface()) {
    if (variable.is_buffer() && !variable.is_restrict) {
      buffers.push_back({.variable = &variable, .is_written = written[argument]});
    }
    argument += variable.is_buffer() ? 2U : 1U;
  }
  return buffers;
}

/// Whether any written buffer overlaps another; null where none can.
llvm::Value* find_overlap(llvm::IRBuilder<>& builder, llvm::Value* arguments,
                          const std::vector<BufferRange>& buffers) {
  llvm::Value* table = builder.CreateLoad(builder.getPtrTy(), arguments);
  std::vector<std::pair<llvm::Value*, llvm::Value*>> ranges;
  for (const BufferRange& each : buffers) {
    const std::uint64_t entry = each.variable->binding * sizeof(HostBuffer);
    llvm::Value* at = builder.CreateConstGEP1_64(builder.getInt8Ty(), table, entry);
    llvm::Value* first = builder.CreateLoad(builder.getInt64Ty(), at);
    llvm::Value* count_at =
        builder.CreateConstGEP1_64(builder.getInt8Ty(), at, offsetof(HostBuffer, byte_count));
    ranges.emplace_back(first, builder.CreateAdd(first, builder.CreateLoad(builder.getInt64Ty(), count_at)));
  }
  llvm::Value* overlap = nullptr;
  for (std::size_t a = 0; a < buffers.size(); ++a) {
    for (std::size_t b = a + 1; b < buffers.size(); ++b) {
      if (!buffers[a].is_written && !buffers[b].is_written) {
        continue;
      }
      llvm::Value* both = builder.CreateAnd(builder.CreateICmpULT(ranges[a].first, ranges[b].second),
                                            builder.CreateICmpULT(ranges[b].first, ranges[a].second));
      overlap = overlap == nullptr ? both : builder.CreateOr(overlap, both);
    }
  }
  return overlap;
}

void export_workgroup_memory(llvm::Module& module, std::uint64_t bytes) {
  llvm::Type* type = llvm::Type::getInt64Ty(module.getContext());
  // The module owns it. NOLINTNEXTLINE(clang-analyzer-cplusplus.NewDeleteLeaks)
  new llvm::GlobalVariable(module, type, true, llvm::GlobalValue::ExternalLinkage,
                           llvm::ConstantInt::get(type, bytes), kWorkgroupMemorySymbol);
}

}  // namespace

void wrap_for_host(const Translation& translation) {
  llvm::Module& module = translation.output();
  const std::vector<std::uint64_t> offsets = place_workgroup_variables(translation);
  verify(module);
  inline_calls(module);
  llvm::Function* kernel =
      make_kernel_function(module, llvm::GlobalValue::ExternalLinkage, kHostKernelSymbol);
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(module.getContext(), "entry", kernel));
  const std::vector<llvm::Value*> passed = {kernel->getArg(0), kernel->getArg(1), kernel->getArg(2)};
  llvm::Value* overlap = find_overlap(builder, kernel->getArg(0), buffers_to_compare(translation));
  WorkgroupsFunction distinct(translation, offsets, true);
  WorkgroupsFunction overlapping(translation, offsets, false);
  llvm::BasicBlock* fast = llvm::BasicBlock::Create(module.getContext(), "distinct", kernel);
  if (overlap == nullptr) {
    builder.CreateBr(fast);
  } else {
    llvm::BasicBlock* slow = llvm::BasicBlock::Create(module.getContext(), "overlapping", kernel);
    builder.CreateCondBr(overlap, slow, fast);
    builder.SetInsertPoint(slow);
    builder.CreateCall(overlapping.build(), passed);
    builder.CreateRetVoid();
  }
  builder.SetInsertPoint(fast);
  builder.CreateCall(distinct.build(), passed);
  builder.CreateRetVoid();
  export_workgroup_memory(module, offsets.back());
  translation.invocation()->setLinkage(llvm::GlobalValue::InternalLinkage);
  verify(module);
  inline_calls(module);
  distinct.annotate();
  if (overlap != nullptr) {
    overlapping.annotate();
  }
  verify(module);
}

}  // namespace backplane::translator
