#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "hone/formats/format.h"
#include "hone/ir/graph.h"
#include "hone/tensor/parameter_store.h"

/// A pass changes a graph and its parameters. It is one record (`PassDef`) in a table, under its name. With its
/// options it prints and parses as text: `freeze(names="bert.embeddings.*")`. runtime/run_passes.h runs it.
namespace hone {

struct Session;

/// One option of a pass.
struct PassOptionDef {
  std::string_view name;
  std::string_view summary;
  /// The default, which also determines the type: a boolean, an integer, a real number, a text or a format.
  Attribute default_value;
  bool required = false;  ///< must be given; the default only determines the type
};

struct PassDef {
  std::string_view name;
  std::string_view summary;  ///< one line
  std::vector<PassOptionDef> options = {};
  /// Options as typed, for help: `names=bert.pooler.dense`. For passes with options.
  std::string_view example = {};
  /// For graphs prepared to run, not for stored models: commands run it themselves, `hone pass` rejects it.
  bool of_runs = false;
  /// Returns whether anything changed. `graph` is verified, and must be valid afterwards. `options` holds every
  /// option. Throws `UserError` for options that do not fit the graph, before anything changes.
  bool (*run)(Graph& graph, ParameterStore& parameters, const Attributes& options,
              const Session& session) = nullptr;
  /// For an analysis, which changes nothing, in place of `run`: returns its findings by name.
  Attributes (*analyze)(const Graph& graph, const ParameterStore& parameters,
                        const Attributes& options) = nullptr;
  std::string plugin = {};  ///< the file that defines it, set by `load_plugin`; empty: built in
};

/// Passes by name. Addresses of the records stay valid while the table exists.
using PassTable = std::map<std::string, PassDef, std::less<>>;

/// Returns the passes of this folder.
PassTable graph_passes();

/// Returns the pass `name`. Throws `UserError`, suggesting the nearest name, if there is none.
const PassDef& find_pass(const PassTable& passes, std::string_view name);

/// A pass with its options.
struct Pass {
  const PassDef* def = nullptr;
  Attributes options;  ///< all of them, in the record's order
};

/// Parses `name` or `name(option=value, …)`. Texts may be quoted; omitted options have their defaults. Throws
/// `UserError` for an unknown name or option (suggesting the nearest), a value of the wrong type, and a missing
/// required option.
Pass parse_pass(std::string_view text, const PassTable& passes, const FormatTable& formats);

/// Returns only the options given in a text "option=value, …". Throws `UserError` as `parse_pass`.
Attributes given_options(const PassDef& def, std::string_view text, const FormatTable& formats);

/// Returns the canonical text, without options that have their default.
std::string to_string(const Pass& pass);

/// Runs a pass; returns false for an analysis. An exception from a plugin's pass, an invalid graph, or an unreported
/// change is a `UserError` that names the plugin, so that its author can fix it.
bool run_pass(const Pass& pass, Graph& graph, ParameterStore& parameters, const Session& session);
/// Returns the findings of an analysis. Throws likewise.
Attributes findings(const Pass& pass, const Graph& graph, const ParameterStore& parameters);

}  // namespace hone
