#include "hone/jobs/tokenize.h"

#include "hone/cli/arguments.h"
#include "hone/cli/screen.h"

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

}  // namespace

Command tokenize_command() {
  return {
      "tokenize", "Show how a dataset is read and tokenized",
      "hone tokenize my-model --data 'synth:negation?seed=7&n=30000'",
      [](CLI::App& app) -> std::function<void()> {
        auto a = std::make_shared<TokenizeArguments>();
        app.add_option("MODEL", a->job.model, "model whose tokenizer to use, or tiny")->required();
        app.add_option("--data", a->job.data.source, kDataSources)->required();
        declare_texts(app, a->job.data, a->job.cut);
        app.add_option("--batch_size", a->job.batch_size, "batch size for the share of padding")
            ->check(number_from(1));
        app.add_option("--examples", a->job.texts, "examples of each split to show")
            ->check(number_from(0));
        declare(app, a->job.vocabulary);
        declare(app, a->run);
        return [a] { tokenize(*a); };
      }};
}

}  // namespace hone
