#pragma once

#include <string>
#include <string_view>
#include <vector>

/// Compiles kernels, whose sources are part of the program (hone/cuda/source). NVRTC, loaded at first use, compiles
/// them for the GPU at hand. Machine code is kept in the cache folder under the fingerprint of its source.
namespace hone::cuda {

/// A file of hone/cuda/source, or another source, with macro definitions: {"rows.cu", {"LENGTH=128"}}.
struct Program {
  std::string_view file;
  std::vector<std::string> definitions = {};
  std::string_view source = {};  ///< empty: the embedded file of that name

  bool operator==(const Program&) const = default;
};

/// An embedded source file or header.
struct SourceFile {
  std::string_view name;
  std::string_view text;
};

/// Returns all files embedded in this program.
const std::vector<SourceFile>& source_files();

/// Returns machine code (a cubin) for a GPU of this architecture ("sm_90a"), from the cache, or compiled and added to
/// it. Throws `UserError` if NVRTC is missing, or, with its log, if it rejects a `Program::source`; `InternalError` if
/// it rejects an embedded file.
std::string machine_code(const Program& program, const std::string& architecture);

/// NVRTC's version ("13.0"), or why it is missing.
struct CompilerState {
  std::string version;
  std::string missing;
};
CompilerState compiler_state();

}  // namespace hone::cuda
