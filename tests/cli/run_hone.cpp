#include "tests/cli/run_hone.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "hone/base/carry_over.h"
#include "hone/base/folder_record.h"
#include "hone/base/random.h"
#include "hone/base/text.h"
#include "tests/support/expect.h"

namespace hone::testing {
namespace {

// Keeps the tests away from the user's caches. A test may set another folder.
void keep_caches_apart() {
  static const TemporaryFolder caches;
  ::setenv("XDG_CACHE_HOME", caches.path().c_str(), /*overwrite=*/0);
}

std::string reviews() {
  std::string text = "text,label\n";
  for (int i = 0; i < kReviews; ++i)
    text += fmt::format("\"film {}, {}\",{}\n", i, i % 2 ? "fine" : "dull", i % 2 ? "good" : "bad");
  return text;
}

// Returns where this build's workshop is cached for all test processes: CTest starts one per test.
fs::path kept_workshop() {
  const fs::path program = HONE_PROGRAM;
  return program.parent_path().parent_path() / "tests/cli/workshops" /
         fmt::format("{:x}-{:x}", fs::file_size(program),
                     fs::last_write_time(program).time_since_epoch().count());
}

// Of several concurrent processes the first to finish wins.
void keep_workshop(const fs::path& made) {
  const fs::path kept = kept_workshop(), aside = fmt::format("{}.{}", kept.string(), ::getpid());
  fs::create_directories(kept.parent_path());
  fs::copy(made, aside, fs::copy_options::recursive);
  std::error_code taken;
  fs::rename(aside, kept, taken);
  if (taken) fs::remove_all(aside);
}

}  // namespace

std::string hone_program() { return HONE_PROGRAM; }

pid_t start_hone(const std::vector<std::string>& arguments, const fs::path& folder,
                 const Streams& streams) {
  keep_caches_apart();
  std::vector<std::string> words = {hone_program()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  ::posix_spawn_file_actions_adddup2(&actions, streams.input, STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, streams.output, STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, streams.messages, STDERR_FILENO);
  pid_t process = 0;
  const int error =
      ::posix_spawn(&process, words[0].c_str(), &actions, nullptr, pointers.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  HONE_ASSERT(error == 0, "cannot start {}: error {}", words[0], error);
  return process;
}

int wait_for(pid_t process) {
  int status = 0;
  HONE_ASSERT(::waitpid(process, &status, 0) == process, "lost process {}", process);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

Ending run_hone(const std::vector<std::string>& arguments, const fs::path& folder) {
  return run_hone_until(arguments, folder, 0, {});
}

Ending run_hone_until(const std::vector<std::string>& arguments, const fs::path& folder, int signal,
                      const std::function<bool()>& ready) {
  // Files instead of pipes, so that neither stream fills up while the other is read.
  const TemporaryFolder files;
  const fs::path output = files.path() / "output", messages = files.path() / "messages";
  constexpr int kNew = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC;
  const Streams streams = {::open("/dev/null", O_RDONLY | O_CLOEXEC),
                           ::open(output.c_str(), kNew, 0600),
                           ::open(messages.c_str(), kNew, 0600)};
  const pid_t process = start_hone(arguments, folder, streams);
  for (const int stream : {streams.input, streams.output, streams.messages}) ::close(stream);
  const auto ended = [&] {
    siginfo_t info{};
    ::waitid(P_PID, static_cast<id_t>(process), &info, WEXITED | WNOHANG | WNOWAIT);
    return info.si_pid != 0;
  };
  while (ready && !ended()) {
    if (!ready()) {
      ::usleep(500);
      continue;
    }
    ::kill(process, signal);
    break;
  }
  const int code = wait_for(process);
  return {code, read_file(output), read_file(messages)};
}

void expect_same_after_kills(
    int kills, const fs::path& folder,
    const std::function<std::vector<std::string>(const std::string&)>& command,
    const std::function<bool(const std::string&)>& is_same) {
  RandomSequence random(7, stream_of("kills"));
  for (int run = 0, killed = 0; killed < kills; ++run) {
    const std::string name = fmt::format("killed-{}", run);
    std::vector<std::string> words = command(name);
    // On a busy machine starting up may take longer than any wait. The longest wait grows with each kill, so that each
    // run ends.
    for (int longest_ms = 500; !fs::exists(folder / name); longest_ms += longest_ms / 4) {
      const auto start = std::chrono::steady_clock::now();
      const std::chrono::milliseconds wait(100 + random.below(longest_ms));
      const Ending ending = run_hone_until(
          words, folder, SIGKILL, [&] { return std::chrono::steady_clock::now() - start > wait; });
      ASSERT_TRUE(ending.code == 0 || ending.code == 128 + SIGKILL) << ending.messages;
      killed += ending.code != 0;
      if (fs::exists(folder / (name + ".partial")) && words.back() != "--resume")
        words.push_back("--resume");
    }
    ASSERT_TRUE(is_same(name)) << "after " << killed << " kills";
  }
}

Ending run_well(const std::vector<std::string>& arguments, const fs::path& folder) {
  Ending ending = run_hone(arguments, folder);
  EXPECT_EQ(ending.code, 0) << fmt::format("hone {}: ", fmt::join(arguments, " "))
                            << ending.messages;
  return ending;
}

Json run_json(std::vector<std::string> arguments, const fs::path& folder) {
  arguments.push_back("--json");
  const std::vector<Json> lines = json_lines(run_well(arguments, folder).output);
  EXPECT_EQ(lines.size(), 1) << fmt::format("hone {}", fmt::join(arguments, " "));
  return lines.empty() ? Json() : lines.front();
}

bool generates_code() {
  static const bool does =
      run_json({"doctor", "--threads", "1"}, fs::temp_directory_path())["vector_lanes"] != 0;
  return does;
}

std::vector<std::string> command_names() {
  // The help lists one command on each line that begins with two spaces: "  shrink   Make a model small".
  std::vector<std::string> names;
  for (const std::string& line :
       split(run_well({"--help"}, fs::temp_directory_path()).output, '\n'))
    if (line.starts_with("  ") && line[2] != ' ')
      names.push_back(line.substr(2, line.find(' ', 2) - 2));
  return names;
}

std::vector<std::string> subcommand_names(const std::string& command) {
  const std::string help = run_well({command, "--help"}, fs::temp_directory_path()).output;
  const std::string begin = "  hone " + command + " ";
  const std::size_t list = help.find("\nSubcommands:\n");
  std::vector<std::string> names;
  if (list == std::string::npos) return names;
  for (const std::string& line : split(help.substr(list), '\n'))
    if (line.starts_with(begin))
      names.push_back(line.substr(begin.size(), line.find(' ', begin.size()) - begin.size()));
  return names;
}

std::vector<std::string> shell_words(std::string_view line) {
  std::vector<std::string> words;
  char quote = 0;
  bool inside = false;
  for (const char c : line) {
    if (quote == 0 && c == ' ') {
      inside = false;
      continue;
    }
    if (!inside) words.emplace_back();
    inside = true;
    if (quote == 0 && (c == '\'' || c == '"')) {
      quote = c;
    } else if (c == quote) {
      quote = 0;
    } else {
      words.back() += c;
    }
  }
  return words;
}

const fs::path& workshop() {
  static const TemporaryFolder folder;
  if (fs::exists(folder.path() / "model")) return folder.path();
  if (fs::exists(kept_workshop())) {
    fs::copy(kept_workshop(), folder.path(), fs::copy_options::recursive);
    return folder.path();
  }
  folder.file("reviews.csv", reviews());
  const Ending trained = run_well(
      {"train", "tiny", "--data", "reviews.csv", "--max_steps", "1", "-o", "model"}, folder.path());
  if (trained.code == 0) keep_workshop(folder.path());
  return folder.path();
}

void leave_interrupted(const fs::path& finished, const fs::path& partial) {
  fs::copy(finished, partial, fs::copy_options::recursive);
  for (const char* name : {"results.json", "settings.json"}) fs::remove(partial / name);
  Json record = read_json(partial / "record.json");
  record["finished"] = false;
  write_file(partial / "record.json", to_document(record));
}

std::string trained_longer(const TemporaryFolder& folder) {
  const std::string model = (folder.path() / "longer").string();
  run_well({"train", "tiny", "--data", "reviews.csv", "--max_steps", "3", "-o", model}, workshop());
  return model;
}

std::vector<Json> json_lines(std::string_view text) {
  std::vector<Json> lines;
  for (const std::string& line : split(text, '\n'))
    if (!line.empty()) lines.push_back(parse_json(line, "a line of JSON"));
  return lines;
}

std::string read_page(const fs::path& file) {
  std::string page = read_file(file);
  for (const auto& [binding, plain] : {std::pair<std::string_view, std::string_view>{"\u00A0", " "},
                                       {"<span>", ""},
                                       {"</span>", ""}})
    for (std::size_t at = 0; (at = page.find(binding, at)) != std::string::npos;)
      page.replace(at, binding.size(), plain);
  return page;
}

void expect_all_recorded(const fs::path& folder) {
  const std::optional<FolderRecord> record = read_record(folder);
  ASSERT_TRUE(record && record->finished) << folder;
  for (const fs::path& path : files_below(folder)) {
    if (path == kRecordFile) continue;
    ASSERT_TRUE(record->files.contains(path)) << folder / path << ": not in the record";
    EXPECT_EQ(record->files.at(path), recorded(folder / path)) << folder / path;
  }
}

std::vector<std::string> entries(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace hone::testing
