#include "hone/models/vocabulary_cut.h"

#include <algorithm>
#include <numeric>

#include "hone/base/text.h"
#include "hone/frontends/huggingface/architecture.h"
#include "hone/models/transform.h"
#include "hone/passes/trim_vocabulary.h"
#include "hone/text/tokenizer_files.h"
#include "hone/text/trim_tokenizer.h"

namespace hone {
namespace {

// Matches "pad_token_id" and similar keys.
bool names_token(const std::string& key) { return key.ends_with("_token_id"); }

std::vector<std::int64_t> counts_in(const EncodedSet& texts, std::size_t tokens) {
  std::vector<std::int64_t> counts(tokens);
  for (const auto& ids : texts.ids)
    for (const std::int32_t id : ids) ++counts[static_cast<std::size_t>(id)];
  return counts;
}

/// The set of kept tokens. Adding one also adds the tokens that it is merged from.
class Kept {
 public:
  explicit Kept(const TokenizerDefinition& definition)
      : parts_(definition), is_kept_(definition.tokens.size()) {}

  // Returns the tokens that adding `id` would add.
  std::vector<std::int32_t> missing(std::int32_t id) const {
    std::vector<std::int32_t> ids = parts_.of(id);
    ids.push_back(id);
    std::erase_if(ids, [&](std::int32_t i) { return is_kept_[static_cast<std::size_t>(i)] != 0; });
    std::ranges::sort(ids);
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    return ids;
  }
  void add(std::int32_t id) {
    for (const std::int32_t i : missing(id)) {
      is_kept_[static_cast<std::size_t>(i)] = 1;
      ++count_;
    }
  }
  std::int64_t count() const { return count_; }
  std::vector<std::int32_t> ids() const {
    std::vector<std::int32_t> ids;
    for (std::size_t i = 0; i < is_kept_.size(); ++i)
      if (is_kept_[i] != 0) ids.push_back(static_cast<std::int32_t>(i));
    return ids;
  }

 private:
  TokenParts parts_;
  std::vector<char> is_kept_;
  std::int64_t count_ = 0;
};

void add_required(const TextModel& source, Kept& kept) {
  const std::vector<char> lasting = permanent_tokens(source.tokenizer.definition());
  for (std::size_t i = 0; i < lasting.size(); ++i)
    if (lasting[i] != 0) kept.add(static_cast<std::int32_t>(i));
  for (const auto& [key, id] : source.model.facts.config.items())
    if (names_token(key) && id.is_number_integer() && id >= 0 &&
        id < source.tokenizer.vocabulary_size())
      kept.add(id.get<std::int32_t>());
}

// Returns the new id of a kept token, or -1 for a removed one.
std::int64_t place_of(const std::vector<std::int32_t>& kept, std::int64_t id) {
  const auto found = std::ranges::lower_bound(kept, id);
  return found != kept.end() && *found == id ? found - kept.begin() : -1;
}

// Moves the rows of the kept tokens to the front, in order.
void move_to_front(const Node& table, const std::vector<std::int32_t>& kept,
                   ParameterStore& parameters) {
  const Tensor rows = parameters.at(table.name()).on(cpu());
  const auto width = static_cast<std::size_t>(rows.size(1));
  Tensor chosen = rows.contiguous_copy();
  float* to = chosen.values<float>().data();
  for (const std::int32_t row : kept)
    to =
        std::copy_n(rows.values<float>().data() + static_cast<std::size_t>(row) * width, width, to);
  parameters.set(table.name(), chosen);
}

// Updates token ids in the graph: the one for padding.
void renumber_padding(Graph& graph, const Node& tokens, const std::vector<std::int32_t>& kept) {
  for (Node* user : std::vector<Node*>(tokens.users())) {
    const Attribute* padding = user->attributes().find("padding");
    if (padding == nullptr || !std::holds_alternative<std::int64_t>(*padding)) continue;
    const std::int64_t id = std::get<std::int64_t>(*padding);
    if (id >= 0) graph.set_attribute(*user, "padding", place_of(kept, id));
  }
}

bool cut_model(Model& model, const std::vector<std::int32_t>& kept) {
  const std::vector<Node*> tables = token_tables(model.graph);
  for (const Node* table : tables) move_to_front(*table, kept, model.parameters);
  renumber_padding(model.graph, *model.graph.find(kTokens), kept);
  for (auto& [key, id] : model.facts.config.items())
    if (names_token(key) && id.is_number_integer())
      if (const std::int64_t place = place_of(kept, id.get<std::int64_t>()); place >= 0) id = place;
  return trim_vocabulary(model.graph, model.parameters, std::ssize(kept));
}

// Formats a range of tokens.
std::string tokens_text(const Tokenizer& tokenizer, std::span<const std::int32_t> ids) {
  std::string text;
  for (const std::int32_t id : ids) text += (text.empty() ? "" : " ") + tokenizer.shown_token(id);
  return text;
}

}  // namespace

VocabularyCut cut_vocabulary(const TextModel& source, const EncodedSet& texts, std::int64_t keep) {
  const TokenizerDefinition& definition = source.tokenizer.definition();
  const std::vector<std::int64_t> counts = counts_in(texts, definition.tokens.size());
  Kept kept(definition);
  add_required(source, kept);
  VocabularyCut cut{.kept = {},
                    .before = std::ssize(definition.tokens),
                    .lasting = kept.count(),
                    .used = std::ranges::count_if(counts, [](std::int64_t n) { return n > 0; })};
  user_check(keep <= cut.before,
             "`keep_tokens`: expected at most {} tokens, the size of the vocabulary, got {}",
             cut.before, keep);
  user_check(keep == 0 || keep >= cut.lasting,
             "`keep_tokens`: expected at least {} tokens (special ones, and single "
             "characters that can spell every word), got {}",
             cut.lasting, keep);
  std::vector<std::int32_t> order(definition.tokens.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::greater(),
                           [&](std::int32_t id) { return counts[static_cast<std::size_t>(id)]; });
  for (const std::int32_t id : order) {
    const bool is_used = counts[static_cast<std::size_t>(id)] > 0;
    if (keep == 0 ? is_used : kept.count() + std::ssize(kept.missing(id)) <= keep) kept.add(id);
  }
  cut.kept = kept.ids();
  return cut;
}

TextModel cut(const TextModel& source, const VocabularyCut& cut, const Session& session) {
  TextModel result = source;
  result.tokenizer = Tokenizer(trimmed(source.tokenizer.definition(), cut.kept));
  change_model(
      result.model, "trim_vocabulary", [&] { return cut_model(result.model, cut.kept); }, session,
      fmt::format("trim_vocabulary(rows={})", cut.kept.size()));
  return result;
}

void write_cut_model(const TextModel& source, const TextModel& model, const VocabularyCut& cut,
                     const fs::path& folder) {
  save_model(model.model, folder);
  if (!source.sentence_folder.empty()) copy_modules(source.sentence_folder, folder);
  write_trained_on(model.trained_on, folder);
  const fs::path& from = source.tokenizer_folder.empty() ? source.folder : source.tokenizer_folder;
  if (from.empty()) {
    save_tokenizer(model.tokenizer, folder, max_tokens(model));
  } else {
    write_trimmed_tokenizer(from, source.tokenizer.definition(), cut.kept, folder);
  }
  if (model.truncation) write_truncation(*model.truncation, folder);
  const std::string usual = usual_tokenizer_class(model.model.facts);
  HONE_ASSERT(
      load_tokenizer(folder, usual).definition().tokens == model.tokenizer.definition().tokens,
      "the tokenizer files in {} have other tokens than those that were kept", folder.string());
}

std::vector<RespelledText> respelled_texts(const Tokenizer& before, const EncodedSet& texts,
                                           const Tokenizer& after, const EncodedSet& again) {
  std::vector<RespelledText> found;
  for (std::size_t row = 0; row < texts.ids.size(); ++row) {
    const auto &old_ids = texts.ids[row], &new_ids = again.ids[row];
    const auto same = [&](std::int32_t a, std::int32_t b) {
      return before.token(a) == after.token(b);
    };
    const auto [a, b] = std::ranges::mismatch(old_ids, new_ids, same);
    if (a == old_ids.end() && b == new_ids.end()) continue;
    RespelledText text{.row = static_cast<std::int64_t>(row)};
    if (a != old_ids.end()) text.before = before.shown_token(*a);
    // Until the old tokens continue.
    auto end = b;
    while (end != new_ids.end() &&
           (a == old_ids.end() || a + 1 == old_ids.end() || !same(*(a + 1), *end)))
      ++end;
    text.after = tokens_text(after, {b, end});
    found.push_back(std::move(text));
  }
  return found;
}

}  // namespace hone
