#include "hone/jobs/tokenize.h"

#include "hone/cli/arguments.h"
#include "hone/cli/terminal_output.h"
#include "hone/jobs/job_data.h"

namespace hone {
namespace {

struct TokenizeArguments {
  TokenizeJob job;
  RunArguments run;
};

void tokenize(TokenizeArguments& a) {
  Context context = make_context(a.run);
  a.job.seed = a.run.seed;
  a.job.columns = text_style(a.run).columns;
  print("tokenize", tokenize_data(a.job, context), a.run);
}

Options options_of(const TokenizeArguments*) {
  using A = TokenizeArguments;
  return {
      model_argument<&A::job, &TokenizeJob::model>("model whose tokenizer to use, or tiny"),
      option<&A::job, &TokenizeJob::data, &DataOptions::source>("data", kDataSources)
          .required()
          .takes(kDataValue)
          .under(Heading::data),
      group<&A::job, &TokenizeJob::data>(),
      group<&A::job, &TokenizeJob::data>(label_map_option()),
      group<&A::job, &TokenizeJob::cut>(),
      option<&A::job, &TokenizeJob::batch_size>("batch_size", "batch size for the share of padding")
          .from(1),
      option<&A::job, &TokenizeJob::texts>("examples", "examples of each split to show").from(0),
      group<&A::job, &TokenizeJob::vocabulary>(),
      group<&A::run>(host_options())};
}

}  // namespace

Command tokenize_command() {
  return {.name = "tokenize",
          .summary = "Show how a dataset is read and tokenized",
          .example = "hone tokenize my-model --data 'synth:negation?seed=7&n=30000'",
          .run = runs<TokenizeArguments, tokenize>()};
}

}  // namespace hone
