# Run by CMake once a test program is built. Writes `file`, which CTest reads: a test for each suite of `program`, named
# `name`.SUITE, without those tests that take long. Programs take so long to start, and suites to set up, that a process for
# every single test would be slower.
execute_process(COMMAND ${program} --gtest_list_tests --gtest_filter=-*.Long*:Long*.* OUTPUT_VARIABLE listed COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "(^|\n)[^ \n]+\\." suites "${listed}")
string(JOIN " " properties LABELS fast TIMEOUT ${timeout} ${properties})
set(tests "")
foreach(suite ${suites})
  string(REGEX REPLACE "^\n|\\.$" "" suite ${suite})
  string(APPEND tests "add_test([[${name}.${suite}]] [[${program}]] --gtest_brief=1 [[--gtest_filter=${suite}.*-*.Long*]])\n"
                      "set_tests_properties([[${name}.${suite}]] PROPERTIES WORKING_DIRECTORY [[${folder}]] ${properties})\n")
endforeach()
file(WRITE ${file} "${tests}")
