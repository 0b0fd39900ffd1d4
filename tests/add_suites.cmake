# CMake runs this after building a test program. Writes `file` for CTest: a test `name`.SUITE for each suite of
# `program`, without long tests. A process for every single test would be slower, because programs and suites take time
# to set up.
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
