#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "hone/formats/format.h"
#include "hone/ir/graph.h"
#include "hone/tensor/parameter_store.h"

/// A pass changes a graph and its parameters. It is one record (`PassDef`) in a table, under the name people call it by;
/// with its options filled in it prints and parses: `freeze(names="bert.embeddings.*")`;
/// runtime/run_passes.h runs it.
namespace hone {

struct Session;

/// One option of a pass.
struct PassOptionDef {
  std::string_view name;
  std::string_view summary;
  /// Its kind, and its value where it is left out: a truth value, a whole or real number, a text or a format.
  Attribute default_value;
  bool required = false;  ///< must be given; the default says the kind alone
};

struct PassDef {
  std::string_view name;
  std::string_view summary;  ///< one line
  std::vector<PassOptionDef> options = {};
  /// Returns whether anything changed. `graph` is verified; what comes out must be too. `options` holds every option.
  /// Throws `UserError` for options that do not fit the graph, before anything changes.
  bool (*run)(Graph& graph, ParameterStore& parameters, const Attributes& options,
              const Session& session);
};

/// The known passes by name. Addresses of the records stay valid while the table lives.
using PassTable = std::map<std::string, PassDef, std::less<>>;

/// The passes of this folder.
PassTable graph_passes();

/// The row called `name`. Throws `UserError`, naming the nearest, where there is none.
const PassDef& find_pass(const PassTable& passes, std::string_view name);

/// A pass with its options.
struct Pass {
  const PassDef* def = nullptr;
  Attributes options;  ///< all of them, in the record's order
};

/// `name` or `name(option=value, …)`; texts stand as they are or quoted, and options left out take their defaults. Throws
/// `UserError` for an unknown name or option (naming the nearest), a value of another kind, and a required option that is
/// left out.
Pass parse_pass(std::string_view text, const PassTable& passes, const FormatTable& formats);

/// What a text "option=value, …" gives of a pass's options, and no others. Throws `UserError` as `parse_pass`.
Attributes given_options(const PassDef& def, std::string_view text, const FormatTable& formats);

/// The canonical text: options that have their default are left out.
std::string to_string(const Pass& pass);

}  // namespace hone
