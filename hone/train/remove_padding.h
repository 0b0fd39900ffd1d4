#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hone/ir/graph.h"
#include "hone/runtime/session.h"
#include "hone/tensor/tensor.h"

/// Training without padding: texts of a batch stand one behind the other, and what is computed of each token is computed of real ones
/// alone. Only attention, positions, dropout and what reads the first token know where a text begins.
///
///     const std::optional<TextLayout> layout = remove_padding(graph);
///     executable->run(layout ? without_padding(batch, *layout) : batch, parameters);
namespace hone {

/// What a graph without padding reads of texts.
struct TextLayout {
  std::int64_t limit = 0;  ///< places of a text that dropout counts; 0: nothing asks for places
  std::int64_t first_position = 0;  ///< of a text
  std::int64_t token_step = 1;      ///< T is a multiple of
  /// Positions are counted as the operation `token_positions` does, from behind this id on.
  std::optional<std::int64_t> position_padding = {};
};

/// Changes a forward graph with the inputs `input_ids` and `attention_mask` (B, S) so that it reads all T tokens of a batch without padding:
/// `input_ids`, other inputs of each token and `positions` (1, T), `text_begins` and `text_lengths` (B), and where dropout draws by places
/// `places` (1, T). Values of texts and of the batch have the bits that they have with padding; gradients are sums of the same terms
/// without those of padding, which are zero. Attentions must be single operations (`fuse_attention`).
///
/// With a `token_step` above 1 there may be more tokens than texts have, a rest behind the last one whose values change nothing, so that
/// batches have few different T.
///
/// Nothing, and the graph as it was, where something looks at all tokens of a padded text at once: formats that round a tensor by all its
/// values, pooling, other tasks than of whole texts; `why`, where given, says what.
std::optional<TextLayout> remove_padding(Graph& graph, std::int64_t token_step = 1,
                                         std::string* why = nullptr);

/// Makes a graph with a loss ready for its gradients: slices are computed before what they take from (`hoist_slices_before_gradients`),
/// attentions are single operations, and texts have no padding where the graph can do without it.
std::optional<TextLayout> prepare_for_gradients(Graph& graph, std::int64_t token_step = 1);
/// The same for runs of the session, of whose type `values` the values are (passes/autocast.h). Throws `UserError` for f16, whose small
/// gradients vanish.
std::optional<TextLayout> prepare_for_gradients(Graph& graph, const Session& session,
                                                std::int64_t token_step = 1);

/// The inputs of such a graph for a padded batch, whose texts begin in the first column.
NamedTensors without_padding(NamedTensors batch, const TextLayout& layout);

/// T of the largest batch: the tokens of so many of the longest texts.
std::int64_t most_tokens(std::vector<std::int64_t> lengths, std::int64_t texts);

}  // namespace hone
