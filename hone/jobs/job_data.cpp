#include "hone/jobs/job_data.h"

#include "hone/base/json.h"

namespace hone {

Splits load_splits(const JobData& data, std::uint64_t seed, const KnownLabels& known,
                   const std::optional<TrainedOn>& record, DataUse use, Context& context) {
  const Protocol protocol = parse_protocol(data.protocol);
  DataOptions options = data.options;
  options.label_names = known.names;
  options.task = known.task;
  if (record) options.remembered = record->columns;
  Splits splits =
      split(load_data_set(options, context.pool), {.validation_split = data.validation_split,
                                                   .seed = seed,
                                                   .protocol = protocol,
                                                   .use = use,
                                                   .max_train_samples = data.max_train_samples,
                                                   .max_eval_samples = data.max_eval_samples,
                                                   .record = record});
  tell_notes(context, splits.source.notes);
  tell_warnings(context, splits.source.warnings);
  return splits;
}

Splits load_splits(const JobData& data, std::uint64_t seed, const ModelFacts& facts,
                   const std::optional<TrainedOn>& record, DataUse use, Context& context) {
  return load_splits(data, seed, KnownLabels{facts.task(), facts.labels}, record, use, context);
}

MeasuredTexts load_measured(const JobData& data, const std::string& split, std::uint64_t seed,
                            const ModelFacts& facts, const std::optional<TrainedOn>& record,
                            Context& context, DataIdentity& identity) {
  JobData whole = data;
  whole.options.split = split;
  // A single file is one part: nothing is set aside by seed from what is to be measured.
  if (split.empty() || split == "all") whole.validation_split = 0;
  if (record) whole.options.remembered = record->columns;
  const Splits splits =
      load_splits(whole, seed, facts, split == "all" ? std::optional<TrainedOn>() : record,
                  DataUse::measurement, context);
  identity = splits.identity;
  return measured_texts(splits, split, record);
}

void tell_choice(const EncodedSplits& data, const std::string& unknown, const Context& context,
                 std::vector<std::string>& notes) {
  const MeasuredPart &choice = data.measured_choice(), &reported = data.measured;
  std::vector<std::string> told = {"choices are made on " + describe(choice)};
  if (choice.facts.part != reported.facts.part)
    told.push_back("what is chosen is measured once on " + describe(reported));
  told.push_back(unknown);
  std::erase(told, "");
  tell_notes(context, told);
  notes.insert(notes.end(), told.begin(), told.end());
}

EncodedSplits load_encoded(TextModel& source, const std::string& name, const JobData& data,
                           const std::string& split, std::uint64_t seed, FiguresOf figures,
                           Context& context, std::vector<std::string>& notes,
                           const LookAtTexts& look) {
  const bool fresh = is_fresh(name);
  JobData asked = data;
  asked.options.split = split;
  const ModelFacts& facts = source.model.facts;
  // A head that was drawn at random means nothing yet: any class may be any of its outputs.
  const bool untrained =
      !fresh && source.model.fresh_head() && facts.unnamed() && facts.task() == Task::single_label;
  const KnownLabels known = fresh       ? known_labels(name)
                            : untrained ? KnownLabels{.task = facts.task()}
                                        : KnownLabels{facts.task(), facts.labels};
  const Splits splits =
      load_splits(asked, seed, known, source.trained_on, DataUse::compression, context);
  if (fresh) source = open_model(name, context, seed, splits.source.scheme());
  user_check(!untrained || std::ssize(splits.source.label_names) == facts.class_count(),
             "{}: the data has {} classes or labels, the model {}; train a head first with `hone "
             "train`",
             name, splits.source.label_names.size(), facts.class_count());
  keep_truncation(data.cut, source);
  std::vector<std::string> warnings = source.model.warnings;
  warnings.push_back(untrained_warning(source, name));
  warnings.push_back(truncation_warning(data.cut));
  const MeasuredTexts measured = measured_texts(splits, split, source.trained_on);
  EncodedSplits encoded =
      encode_splits(source, splits, measured, source.trained_on, data.cut, context, warnings);
  if (look) look(splits.source, measured, warnings);
  std::erase(warnings, "");
  tell_warnings(context, warnings);
  for (const std::vector<std::string>& lines :
       {splits.source.notes, splits.source.warnings, warnings})
    notes.insert(notes.end(), lines.begin(), lines.end());
  const std::string unknown = unknown_texts(name, source.trained_on);
  if (figures == FiguresOf::one_model) {
    tell_measured(encoded.measured, {unknown}, context, notes);
  } else {
    tell_choice(encoded, unknown, context, notes);
  }
  return encoded;
}

void tell_measured(const MeasuredPart& part, const std::vector<std::string>& unknown,
                   const Context& context, std::vector<std::string>& notes) {
  std::vector<std::string> told = {"measured on " + describe(part)};
  told.insert(told.end(), unknown.begin(), unknown.end());
  std::erase(told, "");
  tell_notes(context, told);
  notes.insert(notes.end(), told.begin(), told.end());
}

std::optional<TrainedOn> known_record(const std::string& model) {
  return is_fresh(model) ? TrainedOn{} : read_trained_on(find_encoder(model));
}

KnownLabels known_labels(const std::string& model) {
  const ModelFacts facts = facts_of_model(model);
  KnownLabels known{.task = facts.problem_type};
  if (facts.class_count() == 1) known.task = facts.task();
  if (is_fresh(model) || (facts.unnamed() && !has_trained_head(find_encoder(model)))) return known;
  if (!facts.unnamed()) known.task = facts.task();
  known.names = facts.labels;
  return known;
}

}  // namespace hone
