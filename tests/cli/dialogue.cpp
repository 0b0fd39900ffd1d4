#include "tests/cli/dialogue.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <utility>

#include "hone/base/error.h"
#include "tests/cli/run_hone.h"

namespace hone::testing {

Dialogue::Dialogue(const std::vector<std::string>& arguments, const fs::path& folder) {
  std::string messages = (fs::temp_directory_path() / "hone_messages.XXXXXX").string();
  const int written = ::mkostemp(messages.data(), O_CLOEXEC);
  messages_ = messages;
  int input[2], output[2];
  HONE_ASSERT(::pipe2(input, O_CLOEXEC) == 0 && ::pipe2(output, O_CLOEXEC) == 0, "no pipes");
  process_ = start_hone(arguments, folder, {input[0], output[1], written});
  ::close(written);
  ::close(input[0]);
  ::close(output[1]);
  input_ = input[1];
  output_ = output[0];
}

Dialogue::~Dialogue() {
  if (process_ != 0) {
    ::kill(process_, SIGKILL);
    wait();
  }
  finish();
  hang_up();
  fs::remove(messages_);
}

void Dialogue::say(std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(input_, text.data(), text.size());
    HONE_ASSERT(count > 0, "the program does not listen");
    text.remove_prefix(static_cast<std::size_t>(count));
  }
}

void Dialogue::finish() {
  if (input_ >= 0) ::close(std::exchange(input_, -1));
}

void Dialogue::hang_up() {
  if (output_ >= 0) ::close(std::exchange(output_, -1));
}

std::string Dialogue::answer() {
  constexpr int kMinuteInMilliseconds = 60'000;
  for (;;) {
    if (const std::size_t end = read_.find('\n'); end != std::string::npos) {
      std::string line = read_.substr(0, end);
      read_.erase(0, end + 1);
      return line;
    }
    pollfd ready{.fd = output_, .events = POLLIN, .revents = 0};
    if (::poll(&ready, 1, kMinuteInMilliseconds) != 1) {
      ADD_FAILURE() << "no answer within a minute; messages: " << messages();
      return "";
    }
    char block[4096];
    const ssize_t count = ::read(output_, block, sizeof block);
    if (count <= 0) return std::exchange(read_, "");
    read_.append(block, static_cast<std::size_t>(count));
  }
}

void Dialogue::interrupt() { ::kill(process_, SIGINT); }

int Dialogue::wait() { return wait_for(std::exchange(process_, 0)); }

std::string Dialogue::messages() const { return read_file(messages_); }

}  // namespace hone::testing
