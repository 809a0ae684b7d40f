#include "disassembly.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>

#include <llvm/BinaryFormat/Magic.h>
#include <llvm/IR/Module.h>
#include <llvm/MC/MCAsmInfo.h>
#include <llvm/MC/MCContext.h>
#include <llvm/MC/MCDisassembler/MCDisassembler.h>
#include <llvm/MC/MCInst.h>
#include <llvm/MC/MCInstPrinter.h>
#include <llvm/MC/MCInstrInfo.h>
#include <llvm/MC/MCRegisterInfo.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Support/raw_ostream.h>

#include "codegen.h"
#include "failure.h"

namespace backplane::translator {
namespace {

/// Prints the machine code of one object. Used once, by one thread.
class ObjectPrinter {
 public:
  ObjectPrinter(const llvm::TargetMachine& machine, const llvm::object::ObjectFile& object)
      : machine_(machine),
        object_(object),
        context_(machine.getTargetTriple(), machine.getMCAsmInfo(), machine.getMCRegisterInfo(),
                 machine.getMCSubtargetInfo()),
        disassembler_(machine.getTarget().createMCDisassembler(*machine.getMCSubtargetInfo(), context_)),
        printer_(machine.getTarget().createMCInstPrinter(machine.getTargetTriple(), 0,
                                                         *machine.getMCAsmInfo(), *machine.getMCInstrInfo(),
                                                         *machine.getMCRegisterInfo())) {}

  std::string print() {
    for (const llvm::object::SectionRef& section : object_.sections()) {
      if (section.isText() && section.getSize() != 0) {
        print_section(section);
      }
    }
    return text_;
  }

 private:
  using Labels = std::map<std::uint64_t, std::string>;

  Labels symbols_in(const llvm::object::SectionRef& section) const {
    Labels labels;
    for (const llvm::object::SymbolRef& symbol : object_.symbols()) {
      llvm::Expected<llvm::object::section_iterator> home = symbol.getSection();
      llvm::Expected<llvm::StringRef> name = symbol.getName();
      llvm::Expected<std::uint64_t> address = symbol.getAddress();
      if (home && name && address && *home != object_.section_end() && **home == section && !name->empty()) {
        labels[*address] = name->str();
      }
      llvm::consumeError(home.takeError());
      llvm::consumeError(name.takeError());
      llvm::consumeError(address.takeError());
    }
    return labels;
  }

  /// What the linker fills in, by its place.
  Labels relocations_of(const llvm::object::SectionRef& section) const {
    Labels targets;
    for (const llvm::object::SectionRef& each : object_.sections()) {
      llvm::Expected<llvm::object::section_iterator> relocated = each.getRelocatedSection();
      if (relocated && *relocated != object_.section_end() && **relocated == section) {
        for (const llvm::object::RelocationRef& relocation : each.relocations()) {
          if (relocation.getSymbol() == object_.symbol_end()) {
            continue;
          }
          llvm::Expected<llvm::StringRef> name = relocation.getSymbol()->getName();
          if (name) {
            targets[relocation.getOffset()] = name->str();
          }
          llvm::consumeError(name.takeError());
        }
      }
      llvm::consumeError(relocated.takeError());
    }
    return targets;
  }

  void print_section(const llvm::object::SectionRef& section) {
    llvm::Expected<llvm::StringRef> contents = section.getContents();
    if (!contents) {
      fail_malformed("reading the object: " + llvm::toString(contents.takeError()));
    }
    const llvm::ArrayRef<std::uint8_t> bytes(reinterpret_cast<const std::uint8_t*>(contents->data()),
                                             contents->size());
    const Labels labels = symbols_in(section);
    const Labels targets = relocations_of(section);
    llvm::raw_string_ostream stream(text_);
    std::uint64_t at = 0;
    while (at < bytes.size()) {
      if (const auto label = labels.find(at); label != labels.end()) {
        stream << label->second << ":\n";
      }
      llvm::MCInst instruction;
      std::uint64_t size = 0;
      if (disassembler_->getInstruction(instruction, size, bytes.slice(at), at, llvm::nulls()) !=
          llvm::MCDisassembler::Success) {
        size = std::max<std::uint64_t>(size, 1);
        stream << "\t(data)\n";
      } else {
        stream.indent(2) << llvm::format_hex_no_prefix(at, 6);
        printer_->printInst(&instruction, at, "", *machine_.getMCSubtargetInfo(), stream);
        for (auto target = targets.lower_bound(at); target != targets.end() && target->first < at + size;
             ++target) {
          stream << "  # " << target->second;
        }
        stream << '\n';
      }
      at += size;
    }
  }

  const llvm::TargetMachine& machine_;
  const llvm::object::ObjectFile& object_;
  llvm::MCContext context_;
  std::unique_ptr<llvm::MCDisassembler> disassembler_;
  std::unique_ptr<llvm::MCInstPrinter> printer_;
  std::string text_;
};

}  // namespace

std::string disassemble_code(const TranslationRequest& request, std::span<const std::byte> code) {
  const llvm::StringRef bytes(reinterpret_cast<const char*>(code.data()), code.size());
  switch (llvm::identify_magic(bytes)) {
    case llvm::file_magic::bitcode: {
      llvm::LLVMContext context;
      const DiagnosticCollector diagnostics(context);
      std::string text;
      llvm::raw_string_ostream stream(text);
      read_bitcode(code, context)->print(stream, nullptr);
      return text;
    }
    case llvm::file_magic::elf_relocatable: {
      const std::unique_ptr<llvm::TargetMachine> machine = make_target_machine(request);
      llvm::Expected<std::unique_ptr<llvm::object::ObjectFile>> object =
          llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(bytes, "kernel"));
      if (!object) {
        fail_malformed("this is not the translator's object: " + llvm::toString(object.takeError()));
      }
      return ObjectPrinter(*machine, **object).print();
    }
    default:
      fail_malformed("this is neither bitcode nor an object");
  }
}

}  // namespace backplane::translator
