#include "hone/runtime/plugin.h"

#include <dlfcn.h>

#include <cfenv>
#include <utility>

#include "hone/base/error.h"

namespace hone {
namespace {

/// Restores this thread's floating-point environment: loading a library built with -ffast-math makes the loading
/// thread flush subnormal numbers to zero.
class FloatEnvironmentGuard {
 public:
  FloatEnvironmentGuard() { std::fegetenv(&environment_); }
  ~FloatEnvironmentGuard() { std::fesetenv(&environment_); }
  FloatEnvironmentGuard(const FloatEnvironmentGuard&) = delete;
  FloatEnvironmentGuard& operator=(const FloatEnvironmentGuard&) = delete;

 private:
  std::fenv_t environment_;
};

using Version = const char*();
using Extend = void(Library&);

void* open_library(const fs::path& path) {
  user_check(path_exists(path), "no such file; a plugin is a shared library (.so)");
  // dlopen searches the system's libraries for a name without a slash.
  void* handle = ::dlopen(fs::absolute(path).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) fail("cannot be loaded: {}", ::dlerror());
  return handle;
}

template <typename Function>
Function* function_of(void* handle, const char* name) {
  void* address = ::dlsym(handle, name);
  user_check(address != nullptr,
             "is a shared library, but not a plugin of hone: it has no function {}; "
             "HONE_PLUGIN(library) {{ … }} of hone/runtime/plugin.h defines it",
             name);
  return reinterpret_cast<Function*>(address);
}

void check_version(void* handle) {
  static constexpr auto kVersion = detail::plugin_version();
  const std::string_view own = kVersion.data(),
                         other = function_of<Version>(handle, "hone_plugin_version")();
  user_check(own == other,
             "was built with other headers than this program ('{}', the program has '{}'); "
             "rebuild it with the headers of the program's source",
             other, own);
}

void check_complete(const FormatDef& def) {
  const std::pair<bool, std::string_view> needed[] = {
      {def.layout != nullptr, "layout"},
      {def.fields != nullptr, "fields"},
      {def.quantize_reference != nullptr, "quantize_reference"},
      {def.quantize != nullptr, "quantize"},
      {def.encode != nullptr, "encode"},
      {def.decode != nullptr, "decode"},
      {def.state == nullptr || def.calibrate != nullptr, "calibrate, which its state needs"},
      {def.gradient_rule == nullptr || def.backward != nullptr,
       "backward, which its gradient_rule may need"}};
  for (const auto& [there, name] : needed)
    user_check(there, "format {} does not set {}", def.name, name);
}

void check_complete(const OpDef& def) {
  user_check(def.infer != nullptr, "operation {} does not set infer", def.name);
  user_check(def.reference != nullptr, "operation {} does not set reference", def.name);
}

void check_complete(const PassDef& def) {
  user_check(def.run != nullptr || def.analyze != nullptr, "pass {} does not set run or analyze",
             def.name);
  user_check(def.run == nullptr || def.analyze == nullptr,
             "pass {} sets both run and analyze; a pass that changes nothing sets only analyze",
             def.name);
  for (const PassOptionDef& option : def.options)
    user_check(!std::holds_alternative<std::monostate>(option.default_value) &&
                   !std::holds_alternative<Shape>(option.default_value),
               "pass {}: the default of {} must be a truth value, a number, a text or a format",
               def.name, option.name);
}

template <typename Table>
void check_rows(std::string_view kind, const Table& added, const Table& table) {
  for (const auto& [name, def] : added) {
    user_check(name == def.name, "{} {} is registered as '{}'", kind, def.name, name);
    user_check(!table.contains(name), "{} {} exists already; give it another name", kind, name);
    check_complete(def);
  }
}

}  // namespace

void load_plugin(const fs::path& path, Library& library) {
  if (path_exists(path)) MappedFile file(path);  // rejects a pipe, which could block forever
  const FloatEnvironmentGuard kept;
  with_context(path.string(), [&] {
    void* handle = open_library(path);
    check_version(handle);
    Library added;
    function_of<Extend>(handle, "hone_extend")(added);
    check_rows("format", added.formats, library.formats);
    check_rows("operation", added.ops, library.ops);
    check_rows("pass", added.passes, library.passes);
    for (auto& [name, def] : added.passes) def.plugin = path.string();
    for (const Kernel& kernel : added.kernels)
      user_check(kernel.accepts != nullptr && kernel.run != nullptr,
                 "kernel {} of {} does not set accepts and run", kernel.name, kernel.op);
    user_check(!added.formats.empty() || !added.ops.empty() || !added.kernels.empty() ||
                   !added.passes.empty(),
               "adds nothing");
    library.formats.merge(added.formats);
    library.ops.merge(added.ops);
    library.passes.merge(added.passes);
    library.kernels.insert(library.kernels.begin(), added.kernels.begin(), added.kernels.end());
  });
}

}  // namespace hone
