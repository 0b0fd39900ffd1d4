#include "hone/compiler/machine_code.h"
#include "hone/base/error.h"

namespace hone::compiler {

std::string code_generation_missing() {
  return "the program was built without LLVM 19; install llvm-19-dev and rebuild it";
}

std::string llvm_version() { return ""; }

int vector_lanes() { return 0; }

std::string compile_object(std::string_view, int) { throw UserError(code_generation_missing()); }

void* load_object(std::string_view, const std::string&) {
  throw UserError(code_generation_missing());
}

}  // namespace hone::compiler
