#include "hone/jobs/tokenize.h"

#include "hone/cli/arguments.h"
#include "hone/cli/print_result.h"
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
  const TokenizeResult result = tokenize_data(a.job, context);
  if (a.run.json) return print_result("tokenize", result.fields);
  print_text(a.run, "{}", result.text(text_style(a.run)));
}

}  // namespace

Command tokenize_command() {
  return {
      "tokenize", "read a data set and show what it is as tokens",
      "hone tokenize my-model --data 'synth:negation?seed=7&n=30000'",
      [](CLI::App& app) -> std::function<void()> {
        auto a = std::make_shared<TokenizeArguments>();
        app.add_option("MODEL", a->job.model, "model whose tokenizer is used, or tiny")->required();
        app.add_option("--data", a->job.data.source, kDataSources)->required();
        declare_texts(app, a->job.data, a->job.cut);
        app.add_option("--batch_size,--batch", a->job.batch_size,
                       "texts per batch, for the share of padding")
            ->check(number_from(1));
        app.add_option("--texts", a->job.texts,
                       "first texts of each part to show with their tokens")
            ->check(number_from(0));
        declare(app, a->job.vocabulary);
        declare(app, a->run);
        return [a] { tokenize(*a); };
      }};
}

}  // namespace hone
