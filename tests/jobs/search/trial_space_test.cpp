#include <gtest/gtest.h>

#include <array>

#include "hone/base/error.h"
#include "hone/jobs/search/recipe_sections.h"
#include "hone/runtime/library.h"

namespace hone {
namespace {

const FormatTable& known_formats() {
  static const Library library = builtin_library();
  return library.formats;
}

SearchRecipe search_recipe(const std::string& text) {
  return parse_search_recipe(text, "space.toml", known_formats());
}

std::string recipe_error(const std::string& text) {
  try {
    search_recipe(text);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

// Returns the names of two linears per layer, the second of which is square if both sizes are equal, and a classifier.
LinearNames linears(const Json& architecture) {
  LinearNames names;
  for (int i = 0; i < architecture.value("num_hidden_layers", 1); ++i) {
    for (const char* one : {"query", "dense"})
      names.all.push_back(fmt::format("layer.{}.{}", i, one));
    names.square.push_back(fmt::format("layer.{}.query", i));
    if (architecture.value("hidden_size", 4) == architecture.value("intermediate_size", 8))
      names.square.push_back(fmt::format("layer.{}.dense", i));
  }
  names.all.emplace_back("classifier");
  return names;
}

std::vector<std::string> names_of(const SearchSpace& space) {
  std::vector<std::string> names;
  for (const SpaceParameter& parameter : space.parameters) names.push_back(parameter.name);
  return names;
}

TEST(SearchRecipe, OrdersNumbersThatAreChosenFrom) {
  const SearchRecipe recipe = search_recipe(
      "[architecture]\n"
      "hidden_size = [512, 128, 256]\n"
      "num_hidden_layers = [2, 4, 6]\n"
      "hidden_act = ['gelu', 'relu']\n"
      "num_attention_heads = 2\n"
      "[training]\n"
      "learning_rate = { low = 1e-5, high = 1e-3, log = true }\n"
      "batch_size = { low = 8, high = 32, step = 8 }\n");
  ASSERT_EQ(recipe.architecture.size(), 4u);
  EXPECT_EQ(recipe.architecture[0].distribution, integer_values(0, 2));
  EXPECT_EQ(recipe.architecture[0].decoded(1), 256);
  EXPECT_EQ(recipe.architecture[1].distribution, integer_values(2, 6, 2));
  EXPECT_EQ(recipe.architecture[1].decoded(4), 4);
  EXPECT_EQ(recipe.architecture[2].distribution, choice_of({"gelu", "relu"}));
  EXPECT_EQ(recipe.architecture[3].value, 2);
  ASSERT_TRUE(recipe.training.has_value());
  EXPECT_EQ((*recipe.training)[0].distribution, real_values(1e-5, 1e-3, {}, true));
  EXPECT_EQ((*recipe.training)[1].distribution, integer_values(8, 32, 8));
  EXPECT_FALSE(recipe.pruning.has_value());
}

// Options of allocations are lists, or text as for the flags of `hone allocate`.
TEST(SearchRecipe, TakesOptionsOfLayersAsListsAndAsFlagsHaveThem) {
  const std::string varies = "[training]\nmax_steps = [10, 20]\n[allocation]\n";
  const SearchRecipe lists = search_recipe(
      varies +
      "options = ['int(bits=8,per=row)', 'mxint(bits=4)']\noperands = ['weight', 'bias']\n"
      "budget = ['average_bits <= 5', 'packed_bytes <= 9000']\n");
  const SearchRecipe texts =
      search_recipe(varies +
                    "options = 'int(bits=8,per=row),mxint(bits=4)'\noperands = 'weight,bias'\n"
                    "budget = 'average_bits<=5,packed_bytes<=9000'\n");
  for (const SearchRecipe* recipe : {&lists, &texts}) {
    const AllocationRequest& request = recipe->allocation->request;
    ASSERT_EQ(request.options.size(), 2u);
    EXPECT_EQ(request.options[0].text, "int(bits=8,per=row)");
    EXPECT_EQ(request.options[1].text, "mxint(bits=4)");
    ASSERT_EQ(request.budgets.size(), 2u);
    EXPECT_EQ(request.budgets[1].quantity, BudgetQuantity::packed_bytes);
    EXPECT_FALSE((*request.options[0].formats)[Operand::input]);
  }
  const SearchRecipe pruned = search_recipe(
      varies +
      "sparsities = [0.5, 0.8]\nstructure = ['weights', '1x4']\nbudget = 'average_bits<=9'\n");
  EXPECT_EQ(pruned.allocation->request.options.size(), 1u + 2 * 2);
}

TEST(SearchRecipe, TellsFileAndLineOfWhatItDoesNotUnderstand) {
  const std::pair<const char*, const char*> cases[] = {
      {"maximize = [", "space.toml, line 1: "},
      {"maximise = 'accuracy'",
       "space.toml, line 1: unknown key 'maximise' of a search; expected one of "},
      {"\nmaximize = 'accuracy -'", "space.toml, line 2: maximize: formula 'accuracy -': expected"},
      {"maximize = 'accuracy'\nminimize = ['loss', 'accuracy']",
       "space.toml, line 2: minimize: objective 'accuracy' is listed twice"},
      {"constraints = ['accuracy']", "space.toml, line 1: constraint 'accuracy': expected two"},
      {"[training]\nlearning_rat = 1",
       "space.toml, line 2: unknown key 'learning_rat' of [training]"},
      {"[training]\nlearning_rate = [1, 'a']",
       "space.toml, line 2: training.learning_rate: expected a number"},
      {"[training]\nlr = 1\nlearning_rate = 1",
       "space.toml, line 3: training.learning_rate is training.lr; give it once"},
      {"[training]\nepochs = { low = 3, high = 1 }",
       "space.toml, line 2: epochs: values from 3 to 1: expected"},
      {"[training]\nepochs = { low = 3 }", "space.toml, line 2: epochs: expected a number `high`"},
      {"[training]\nepochs = []", "space.toml, line 2: epochs: no values to choose from"},
      {"[pruning]\nsparsity = [0.5, 1]",
       "space.toml, line 2: pruning.sparsity: expected a number of at least 0 and below 1, got 1"},
      {"[pruning]\nmethod = ['l1', 'l2']", "space.toml, line 2: pruning.method: "},
      {"[pruning]\nstructure = ['1x4', 'heads']",
       "space.toml, line 2: pruning.structure: expected"},
      {"[[precision]]\nformats = 'bf16'\nsparsities = [0, 0.5]\nstructure = '2:4'",
       "space.toml, line 4: structure: structure 2:4 fixes how many weights to remove"},
      {"[[precision]]\nformats = 'bf16'\nstructure = '1x4'",
       "space.toml, line 3: structure without sparsities removes nothing"},
      {"[architecture]\nsquare_linears = ['linear']",
       "space.toml, line 2: square_linears: expected"},
      {"[lora]\nmost_steps = 0.5",
       "space.toml, line 2: lora.most_steps: expected a number of at least 1, got 0.5"},
      {"[[precision]]\nlayers = '*'", "space.toml, line 1: [[precision]] has no `formats`"},
      {"[[precision]]\nformats = ['int(bits=[4,99])']", "space.toml, line 2: formats: "},
      {"[[precision]]\nformats = ['int(bits=4)', 'int(bits=[4,8])']",
       "space.toml, line 2: formats: int is listed twice"},
      {"[[precision]]\nchoice = 'all'\nformats = ['bf16']", "space.toml, line 2: choice: expected"},
      {"[[precision]]\noperands = ['weights']\nformats = ['bf16']",
       "space.toml, line 2: operands: expected"},
      {"[training]\nepochs = 1", "space.toml: nothing varies; give lists of values"},
  };
  for (const auto& [text, message] : cases)
    EXPECT_TRUE(recipe_error(text).starts_with(message)) << text << "\n" << recipe_error(text);
}

// Only flags accept truth values, and flags accept no numbers.
TEST(SearchRecipe, RefusesABadValueOfEveryKeyOfEverySection) {
  for (const RecipeSection& section : recipe_sections())
    for (const OptionDef& option : section.options.rows)
      for (const std::string& key : option.names) {
        const std::string error = recipe_error(
            fmt::format("[{}]\n{} = {}", section.name, key, option.type->flag ? "1" : "true"));
        EXPECT_TRUE(error.starts_with(
            fmt::format("space.toml, line 2: {}.{}: expected", section.name, key)))
            << error;
      }
}

TEST(SearchRecipe, RefusesValuesOutOfRange) {
  const std::array<const char*, 3> cases[] = {{"structure", "neurons", "-0.1"},
                                              {"structure", "layers", "1"},
                                              {"structure", "method", "'random'"},
                                              {"structure", "scope", "'all'"},
                                              {"training", "epochs", "-1"},
                                              {"training", "lr_scheduler_type", "'step'"},
                                              {"lora", "r", "0"},
                                              {"lora", "alpha", "'large'"},
                                              {"lora", "dropout", "1"},
                                              {"lora", "learning_rate", "-1"},
                                              {"pruning", "activations", "1"},
                                              {"pruning", "scope", "'all'"},
                                              {"native", "narrow_share", "1.5"},
                                              {"train_on", "max_steps", "0.5"},
                                              {"distillation", "alpha", "1.5"},
                                              {"distillation", "temperature", "0"}};
  for (const auto& [section, key, value] : cases) {
    const std::string error = recipe_error(fmt::format("[{}]\n{} = {}", section, key, value));
    EXPECT_TRUE(error.starts_with(fmt::format("space.toml, line 2: {}.{}: expected", section, key)))
        << error;
  }
}

TEST(RecipeSection, KeepsDefaultsOfWhatIsNotGiven) {
  const auto pruning = settings_of<PruningSection>({{"scope", "global"}, {"target", "a.*,b.*"}});
  EXPECT_EQ(pruning.weights.rule.scope, PruneScope::global);
  EXPECT_EQ(pruning.weights.target, (std::vector<std::string>{"a.*", "b.*"}));
  EXPECT_EQ(pruning.weights.rule.sparsity, 0);
  FineTuneOptions base;
  base.training.batch_size = 3;
  EXPECT_EQ(settings_of({{"lr", 1e-2}}, base).training.batch_size, 3);
  EXPECT_EQ(settings_of({{"lr", 1e-2}}, base).training.optimizer.learning_rate, 1e-2);
}

TEST(TrialSpace, AsksOfEveryTrialWhatItsArchitectureHas) {
  const TrialSpace trials(search_recipe("[architecture]\n"
                                        "num_hidden_layers = [1, 2]\n"
                                        "intermediate_size = [4, 8]\n"
                                        "hidden_size = 4\n"
                                        "square_linears = ['linear', 'identity']\n"),
                          linears);
  EXPECT_EQ(
      names_of(trials.space()),
      (std::vector<std::string>{"num_hidden_layers", "intermediate_size", "layer.0.query_type",
                                "layer.0.dense_type", "layer.1.query_type", "layer.1.dense_type"}));
  // With two square linears or one in one layer, and with four or two in two layers.
  EXPECT_EQ(count_points(trials.space()), 4u + 2 + 16 + 4);
  const TrialConfiguration configuration = trials.configuration_of(
      {{"num_hidden_layers", 1}, {"intermediate_size", 8}, {"layer.0.query_type", "identity"}});
  EXPECT_EQ(to_line(to_json(configuration)),
            R"({"architecture":{"num_hidden_layers":1,"intermediate_size":8,"hidden_size":4},)"
            R"("identities":["layer.0.query"]})");
  EXPECT_EQ(trials.precision_layers(configuration),
            (std::vector<std::string>{"layer.0.dense", "classifier"}));
}

TEST(TrialSpace, GivesLayersFormatsOneByOneOrTogether) {
  const TrialSpace trials(
      search_recipe("[[precision]]\n"
                    "formats = ['none', 'integer(width=[8,16,32],frac=[2,4,8])']\n"
                    "[[precision]]\n"
                    "layers = 'classifier'\n"
                    "choice = 'together'\n"
                    "operands = ['weight']\n"
                    "formats = ['int(bits=[4,8])']\n"),
      linears);
  EXPECT_EQ(names_of(trials.space()),
            (std::vector<std::string>{"layer.0.query.format", "layer.0.query.integer.width",
                                      "layer.0.query.integer.frac", "layer.0.dense.format",
                                      "layer.0.dense.integer.width", "layer.0.dense.integer.frac",
                                      "classifier.int.bits"}));
  EXPECT_EQ(count_points(trials.space()), 10u * 10 * 2);
  const TrialConfiguration configuration =
      trials.configuration_of({{"layer.0.query.format", "none"},
                               {"layer.0.dense.format", "integer"},
                               {"layer.0.dense.integer.width", 1},
                               {"layer.0.dense.integer.frac", 2},
                               {"classifier.int.bits", 4}});
  const auto all = [](const char* format) {
    return Json({{"input", format}, {"weight", format}, {"bias", format}});
  };
  EXPECT_EQ(configuration.formats, Json({{"layer.0.query", all("none")},
                                         {"layer.0.dense", all("integer(width=16,frac=8)")},
                                         {"classifier", {{"weight", "int(bits=4)"}}}}));
}

// A layer that keeps all its weights has no structure parameter.
TEST(TrialSpace, PrunesLayersInTheStructuresThatAGroupNames) {
  const TrialSpace trials(search_recipe("[[precision]]\n"
                                        "formats = ['none']\n"
                                        "sparsities = [0, 0.5]\n"
                                        "structure = ['weights', '1x4']\n"
                                        "[[precision]]\n"
                                        "layers = 'classifier'\n"
                                        "formats = ['none']\n"
                                        "sparsities = 0.75\n"
                                        "structure = '4x1'\n"),
                          linears);
  EXPECT_EQ(names_of(trials.space()),
            (std::vector<std::string>{"layer.0.query.sparsity", "layer.0.query.structure",
                                      "layer.0.dense.sparsity", "layer.0.dense.structure"}));
  EXPECT_EQ(count_points(trials.space()), 3u * 3);
  const Json first = trials
                         .configuration_of({{"layer.0.query.sparsity", 0},
                                            {"layer.0.dense.sparsity", 1},
                                            {"layer.0.dense.structure", "1x4"}})
                         .sparsities;
  EXPECT_EQ(first, Json({{"layer.0.dense", {{"sparsity", 0.5}, {"structure", "1x4"}}},
                         {"classifier", {{"sparsity", 0.75}, {"structure", "4x1"}}}}));
  // Single weights keep the short notation without a structure.
  const Json single = trials
                          .configuration_of({{"layer.0.query.sparsity", 1},
                                             {"layer.0.query.structure", "weights"},
                                             {"layer.0.dense.sparsity", 0}})
                          .sparsities;
  EXPECT_EQ(single["layer.0.query"], Json(0.5));
}

// An N:M pattern determines the sparsity. Without sparsity there is no structure.
TEST(TrialSpace, LeavesOutOfPruningWhatChangesNothing) {
  const TrialSpace space(search_recipe("[pruning]\nsparsity = [0, 0.5]\n"
                                       "structure = ['weights', '1x4', '2:4']\n"),
                         linears);
  const auto at = [&](int sparsity, const char* structure) {
    return to_json(
        space.configuration_of({{"pruning.sparsity", sparsity}, {"pruning.structure", structure}}));
  };
  EXPECT_EQ(at(0, "weights"), Json::object());
  EXPECT_EQ(at(0, "1x4"), Json::object());
  EXPECT_EQ(at(1, "1x4")["pruning"], Json({{"sparsity", 0.5}, {"structure", "1x4"}}));
  EXPECT_EQ(at(0, "2:4")["pruning"], (Json{{"structure", "2:4"}}));
  EXPECT_EQ(at(1, "2:4"), at(0, "2:4"));
}

TEST(TrialSpace, RefusesGroupsThatNameNothing) {
  const auto error = [](const std::string& text) -> std::string {
    try {
      const TrialSpace trials(search_recipe(text), linears);
    } catch (const UserError& caught) {
      return caught.what();
    }
    return "";
  };
  EXPECT_EQ(error("[[precision]]\nlayers = 'pooler'\nformats = ['bf16', 'none']"),
            "space.toml, line 1: [[precision]]: 'pooler' matches no linear layer; see the names in "
            "`hone inspect MODEL`");
  EXPECT_EQ(
      error("[[precision]]\nlayers = 'classifier'\nformats = ['bf16', 'none']\n"
            "[[precision]]\nformats = ['bf16', 'none']"),
      "space.toml, line 1: [[precision]]: later groups match all linear layers of 'classifier'");
}

// Sections without an effect are left out, however they are written: training without steps, or a narrow format without
// linears.
TEST(TrialSpace, LeavesOutSectionsThatDoNothing) {
  const TrialSpace space(search_recipe(R"toml([structure]
heads = [0, 0.5]
neurons = [0, 0.25]
[training]
max_steps = [0, 10]
[native]
linears = ["none", "int(bits=8,per=row)"]
narrow = "int(bits=4,per=row)"
narrow_share = [0, 0.5]
tables = ["none", "int(bits=8,per=row)"]
[distillation]
alpha = 0
)toml"),
                         linears);
  const auto at = [&](int heads, int steps, const char* wide, int narrow, const char* tables) {
    return to_json(space.configuration_of({{"structure.heads", heads},
                                           {"structure.neurons", 0},
                                           {"training.max_steps", steps},
                                           {"native.linears", wide},
                                           {"native.narrow_share", narrow},
                                           {"native.tables", tables}}));
  };
  EXPECT_EQ(at(0, 0, "none", 1, "none"), Json::object());
  const Json some = at(1, 10, "int(bits=8,per=row)", 1, "none");
  EXPECT_EQ(some["structure"]["heads"], 0.5);
  EXPECT_EQ(some["training"]["max_steps"], 10);
  EXPECT_EQ(some["distillation"]["alpha"], 0);
  EXPECT_EQ(some["native"]["narrow_share"], 0.5);
  EXPECT_FALSE(at(1, 0, "none", 0, "none").contains("distillation"));
  EXPECT_FALSE(at(0, 0, "int(bits=8,per=row)", 0, "none")["native"].contains("narrow"));
}

TEST(TrialSpace, LeavesOutTrainingOfNoEpochsByAnyName) {
  const TrialSpace space(search_recipe("[training]\nnum_train_epochs = [0, 1]\n"
                                       "[train_on]\nlearning_rate = 1e-4\n"),
                         linears);
  const auto at = [&](int epochs) {
    return to_json(space.configuration_of({{"training.num_train_epochs", epochs}}));
  };
  EXPECT_FALSE(at(0).contains("training"));
  EXPECT_TRUE(at(0).contains("train_on"));
  EXPECT_EQ(at(1)["training"], (Json{{"num_train_epochs", 1}}));
}

TEST(TrialSpace, HasAdaptersTrainedUpToSoManyStepsAtARateOfTheirOwn) {
  const TrialSpace space(search_recipe(R"toml([training]
max_steps = [0, 10, 20]
learning_rate = 1e-4
[lora]
r = 4
learning_rate = 1e-2
most_steps = 10
)toml"),
                         linears);
  const auto at = [&](int steps) {
    return to_json(space.configuration_of({{"training.max_steps", steps}}));
  };
  EXPECT_FALSE(at(0).contains("lora"));
  EXPECT_EQ(at(10)["lora"], (Json{{"r", 4}}));
  EXPECT_EQ(at(10)["training"]["learning_rate"], 1e-2);
  EXPECT_FALSE(at(20).contains("lora"));
  EXPECT_EQ(at(20)["training"]["learning_rate"], 1e-4);
}

TEST(SearchRecipe, RefusesNativeModelsThatCannotBe) {
  EXPECT_NE(recipe_error(R"toml([native]
linears = ["none", "log(bits=8)"]
)toml")
                .find("native.linears"),
            std::string::npos);
  EXPECT_NE(recipe_error(R"toml([native]
linears = ["none", "int(bits=8,per=row)"]
[[precision]]
formats = ["none", "int(bits=8)"]
)toml")
                .find("[native] and [[precision]] both choose formats"),
            std::string::npos);
  EXPECT_NE(recipe_error(R"toml([native]
linears = ["none", "int(bits=8,per=row)"]
narrow = "int(bits=4,per=row)"
)toml")
                .find("give both or neither"),
            std::string::npos);
  const std::string native = "[native]\nlinears = ['none', 'int(bits=8,per=row)']\n";
  EXPECT_EQ(recipe_error(native + "[pruning]\nsparsity = [0, 0.8]\nstructure = '1x4'\n"), "");
  EXPECT_NE(recipe_error(native + "[pruning]\nactivations = 0.3\n").find("activations"),
            std::string::npos);
  EXPECT_NE(recipe_error(R"toml([structure]
heads = [0, 0.5]
method = ["l1", "l2"]
)toml")
                .find("units are scored once"),
            std::string::npos);
  EXPECT_NE(recipe_error(R"toml([structure]
heads = [0, 1]
)toml")
                .find("structure.heads: expected a number of at least 0 and below 1"),
            std::string::npos);
}

}  // namespace
}  // namespace hone
