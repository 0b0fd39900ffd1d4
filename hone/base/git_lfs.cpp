#include "hone/base/git_lfs.h"

#include "hone/base/error.h"

namespace hone {

void refuse_git_lfs_pointer(const fs::path& path, std::string_view text,
                            std::string_view expected) {
  user_check(!text.starts_with("version https://git-lfs"),
             "{}: expected {}, got a Git LFS pointer to them; run 'git lfs pull' in the folder",
             path.string(), expected);
}

}  // namespace hone
