#pragma once

#include <gtest/gtest.h>

#include <string>

#include "hone/base/file.h"
#include "hone/base/json.h"
#include "hone/base/process.h"
#include "tests/support/expect.h"

namespace hone {

/// Opens a page in a headless browser, runs the script `doings`, which acts like a user, and returns the script's
/// `result`.
inline Json after_in_browser(const std::string& page, const std::string& doings) {
  const TemporaryFolder folder;
  std::string tried = page;
  tried.insert(tried.rfind("</body>"),
               "<script>window.onerror = message => document.title = 'error: ' + message;\n"
               "let result = {};\n" +
                   doings +
                   "\nconst shown = document.createElement('pre'); shown.id = 'shown';\n"
                   "shown.textContent = '@@' + JSON.stringify(result) + '@@';\n"
                   "document.body.append(shown);</script>\n");
  write_file(folder.path() / "page.html", tried);
  const std::string document = run_program(
      {"chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1600,900",
       "--user-data-dir=" + (folder.path() / "profile").string(), "--virtual-time-budget=4000",
       "--dump-dom", "file://" + fs::absolute(folder.path() / "page.html").string()},
      folder.path(), "chromium");
  EXPECT_EQ(document.find("<title>error"), std::string::npos) << document.substr(0, 500);
  const std::string open = "<pre id=\"shown\">@@";
  const std::size_t begin = document.rfind(open);
  if (begin == std::string::npos) {
    ADD_FAILURE() << document.substr(0, 5000);
    return {};
  }
  const std::size_t from = begin + open.size();
  return Json::parse(document.substr(from, document.find("@@", from) - from));
}

}  // namespace hone
