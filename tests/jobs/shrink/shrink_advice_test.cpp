#include "hone/jobs/shrink/shrink_advice.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

TEST(ShrinkAdvice, SplitsInHundredthsUpToHalfOfTheExamples) {
  EXPECT_EQ((ExamplesNeeded{.validation = 530, .available = 1500}.split()), 0.36);
  EXPECT_EQ((ExamplesNeeded{.validation = 750, .available = 1500}.split()), 0.5);
  EXPECT_EQ((ExamplesNeeded{.validation = 760, .available = 1500}.split()), std::nullopt);
  EXPECT_EQ((ExamplesNeeded{.validation = 530, .available = 1500, .set_aside = false}.split()),
            std::nullopt);
}

TEST(ShrinkAdvice, TrainsAgainWithAnotherSplitIntoAnotherFolder) {
  EXPECT_EQ(with_validation_split("hone train tiny --data 'a b.csv' --lr 5e-4 -o my-model", 0.36,
                                  "my-model-split36"),
            "hone train tiny --data 'a b.csv' --lr 5e-4 --validation_split 0.36 -o "
            "my-model-split36");
  EXPECT_EQ(with_validation_split(
                "hone train tiny --validation_split 0.1 --overwrite_output_dir --data a.csv "
                "--output_dir=old --json --epochs 2",
                0.5, "my new"),
            "hone train tiny --data a.csv --epochs 2 --validation_split 0.5 -o 'my new'");
}

}  // namespace
}  // namespace hone
