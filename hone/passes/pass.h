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
  /// Options as they are typed, for help: `names=bert.pooler.dense`. Of passes that have some.
  std::string_view example = {};
  /// For graphs that are about to be run, not for models that are kept: commands run it themselves, `hone pass` refuses it.
  bool of_runs = false;
  /// Returns whether anything changed. `graph` is verified; what comes out must be too. `options` holds every option.
  /// Throws `UserError` for options that do not fit the graph, before anything changes.
  bool (*run)(Graph& graph, ParameterStore& parameters, const Attributes& options,
              const Session& session) = nullptr;
  /// Of a pass that looks and changes nothing (an analysis), in place of `run`: what it finds, by name.
  Attributes (*look)(const Graph& graph, const ParameterStore& parameters,
                     const Attributes& options) = nullptr;
  std::string plugin = {};  ///< the file that brought it, set by `load_plugin`; empty: the program
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

/// Runs it; of one that looks, false. What a plugin's pass throws, the broken graph that it leaves, and a change that it does
/// not tell are `UserError`s that name the plugin, whose author can mend them.
bool run_pass(const Pass& pass, Graph& graph, ParameterStore& parameters, const Session& session);
/// What a pass that looks finds. The same errors.
Attributes findings(const Pass& pass, const Graph& graph, const ParameterStore& parameters);

}  // namespace hone
