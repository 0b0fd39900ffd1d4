#pragma once

#include <string>
#include <string_view>
#include <vector>

/// Kernels' sources are part of the program (hone/cuda/source). NVRTC, loaded when it is first needed, compiles them for the
/// GPU that is there; machine code is kept in the cache folder under its source's fingerprint.
namespace hone::cuda {

/// A file of hone/cuda/source, or a source of one's own, with macros: {"rows.cu", {"LENGTH=128"}}.
struct Program {
  std::string_view file;
  std::vector<std::string> definitions = {};
  std::string_view source = {};  ///< empty: the file of that name in the program

  bool operator==(const Program&) const = default;
};

/// A file that sources include, or a program's: its name and text.
struct SourceFile {
  std::string_view name;
  std::string_view text;
};

/// All that are part of this program.
const std::vector<SourceFile>& source_files();

/// Machine code (a cubin) for a GPU of this architecture ("sm_90a"): from the cache, or compiled and put there.
/// Throws `UserError` without NVRTC, or with its log where it refuses a person's source.
std::string machine_code(const Program& program, const std::string& architecture);

/// "13.0", or why there is none.
struct CompilerState {
  std::string version;
  std::string missing;
};
CompilerState compiler_state();

}  // namespace hone::cuda
