"""Tests of the tool-info module: python3 test_pdnet.py

They need no BenchExec: where it is not installed, the few names that the module uses are put in its place.
"""

import importlib.util
import pathlib
import sys
import types
import unittest


def stand_in():
    """What the module uses of BenchExec."""
    result = types.ModuleType("benchexec.result")
    result.RESULT_TRUE_PROP, result.RESULT_FALSE_PROP = "true", "false"
    result.RESULT_UNKNOWN, result.RESULT_TIMEOUT, result.RESULT_ERROR = "unknown", "TIMEOUT", "ERROR"
    template = types.ModuleType("benchexec.tools.template")
    template.BaseTool2 = object
    template.UnsupportedFeatureException = type("UnsupportedFeatureException", (Exception,), {})
    package, tools = types.ModuleType("benchexec"), types.ModuleType("benchexec.tools")
    package.result, package.tools, tools.template = result, tools, template
    for module in (package, tools, result, template):
        sys.modules[module.__name__] = module


if importlib.util.find_spec("benchexec") is None:
    stand_in()
path = pathlib.Path(__file__).with_name("pdnet.py")
spec = importlib.util.spec_from_file_location("pdnet_tool_info", path)
pdnet = importlib.util.module_from_spec(spec)
spec.loader.exec_module(pdnet)


def run(lines, code=0, was_timeout=False):
    exit_code = types.SimpleNamespace(value=code)
    return types.SimpleNamespace(output=lines, exit_code=exit_code, was_timeout=was_timeout)


def task(options=None, property_file=None):
    return types.SimpleNamespace(
        input_files=["a.i"], options=options, property_file=property_file
    )


def limits(cputime=None, walltime=None, memory=None):
    return types.SimpleNamespace(cputime=cputime, walltime=walltime, memory=memory)


class Results(unittest.TestCase):
    def test_the_last_result_line_counts(self):
        for lines, expected in [
            (["Verification result: TRUE\n"], "true"),
            (["note: x\n", "Verification result: FALSE (unreach-call)\n"], "false(unreach-call)"),
            (["Verification result: FALSE (valid-ltl)", "warning[w]: late"], "false(valid-ltl)"),
            (["Verification result: UNKNOWN (time limit 9 s)"], "TIMEOUT"),
            (["Verification result: UNKNOWN (memory limit 4 GiB)"], "OUT OF MEMORY"),
            (["Verification result: UNKNOWN (bound on the number of threads: 16)"], "unknown"),
            (["Verification result: UNKNOWN (not supported: f(x) and g(y))"], "unknown"),
        ]:
            self.assertEqual(pdnet.Tool().determine_result(run(lines)), expected, lines)

    def test_without_a_result_there_is_an_error(self):
        for ended, expected in [
            (run(["error[unknown-function]: `f`\n"], 2), "ERROR (unknown-function)"),
            (run(["thread panicked"], 6), "ERROR (bug in pdnet)"),
            (run([], 1), "ERROR"),
            (run(["a search"], None, was_timeout=True), "TIMEOUT"),
        ]:
            self.assertEqual(pdnet.Tool().determine_result(ended), expected)

    def test_numbers_of_the_output(self):
        lines = ["x", "  explicit engine: 75 states, 119 transitions, 0.00 s, 4.1 KiB"]
        tool = pdnet.Tool()
        self.assertEqual(tool.get_value_from_output(lines, "states"), "75")
        self.assertEqual(tool.get_value_from_output(lines, "transitions"), "119")
        self.assertIsNone(tool.get_value_from_output(lines, "places"))


class CommandLines(unittest.TestCase):
    def check(self, expected, *, options=(), of=None, within=None):
        line = pdnet.Tool().cmdline("pdnet", list(options), of or task(), within or limits())
        self.assertEqual(" ".join(line), expected)

    def test_options_come_from_the_task_and_the_limits(self):
        self.check("pdnet check a.i")
        self.check(
            "pdnet check --witness w.yml --prp p.prp --data-model ILP32 --timeout 855s --memory 12000000000 a.i",
            options=["--witness", "w.yml"],
            of=task({"language": "C", "data_model": "ILP32"}, "p.prp"),
            within=limits(900, 960, 15_000_000_000),
        )
        self.check("pdnet check --timeout 5m a.i", options=["--timeout", "5m"], within=limits(900))

    def test_what_pdnet_cannot_do_is_said(self):
        for options in [{"language": "Java"}, {"language": "C", "data_model": "LP32"}]:
            with self.assertRaises(pdnet.UnsupportedFeatureException):
                pdnet.Tool().cmdline("pdnet", [], task(options), limits())


if __name__ == "__main__":
    unittest.main()
