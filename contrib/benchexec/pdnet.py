"""Tool-info module of pdnet for BenchExec."""

import re

import benchexec.result as result
import benchexec.tools.template
from benchexec.tools.template import UnsupportedFeatureException

DATA_MODELS = ("ILP32", "LP64")

# pdnet counts the memory of states and search. The rest of the process needs some, too.
MEMORY_SHARE = 0.8

# Left of the time for the run's replay and for the report.
TIME_SHARE = 0.95

RESULT_LINE = re.compile(r"Verification result: (TRUE|FALSE|UNKNOWN)(?: \((.*)\))?$")


class Tool(benchexec.tools.template.BaseTool2):
    """pdnet checks multi-threaded C programs by way of program dependence nets."""

    def executable(self, tool_locator):
        return tool_locator.find_executable("pdnet")

    def version(self, executable):
        return self._version_from_tool(executable, line_prefix="pdnet ")

    def name(self):
        return "pdnet"

    def cmdline(self, executable, options, task, rlimits):
        own = []
        if task.property_file:
            own += ["--prp", task.property_file]
        own += data_model(task)
        times = [limit for limit in (rlimits.cputime, rlimits.walltime) if limit]
        if times and "--timeout" not in options:
            own += ["--timeout", f"{max(1, int(min(times) * TIME_SHARE))}s"]
        if rlimits.memory and "--memory" not in options:
            own += ["--memory", str(int(rlimits.memory * MEMORY_SHARE))]
        return [executable, "check", *options, *own, *task.input_files]

    def determine_result(self, run):
        for line in reversed(run.output):
            found = RESULT_LINE.match(line.strip())
            if found:
                return verdict(found.group(1), found.group(2))
        if run.was_timeout:
            return result.RESULT_TIMEOUT
        return failure(run)

    def get_value_from_output(self, output, identifier):
        # For columns of tables: the first number before the identifier, as in "75 states".
        wanted = re.compile(rf"([0-9][0-9_.,]*) {re.escape(identifier)}\b")
        for line in reversed(output):
            found = wanted.search(line)
            if found:
                return found.group(1)
        return None


def data_model(task):
    """The option for the sizes of types that the task asks for."""
    if not isinstance(task.options, dict):
        return []
    language = task.options.get("language", "C")
    if language != "C":
        raise UnsupportedFeatureException(f"pdnet does not read programs in {language}")
    model = task.options.get("data_model")
    if model is None:
        return []
    if model not in DATA_MODELS:
        raise UnsupportedFeatureException(f"pdnet has no data model {model}")
    return ["--data-model", model]


def verdict(word, detail):
    """BenchExec's word for a result line."""
    if word == "TRUE":
        return result.RESULT_TRUE_PROP
    if word == "FALSE":
        return f"{result.RESULT_FALSE_PROP}({detail})" if detail else result.RESULT_FALSE_PROP
    if detail and detail.startswith("time limit"):
        return result.RESULT_TIMEOUT
    if detail and detail.startswith("memory limit"):
        return "OUT OF MEMORY"
    return result.RESULT_UNKNOWN


def failure(run):
    """Why there is no result line: the first diagnostic, or the exit code."""
    for line in run.output:
        found = re.match(r"error\[([a-z-]+)\]", line)
        if found:
            return f"{result.RESULT_ERROR} ({found.group(1)})"
    if run.exit_code.value == 6:
        return f"{result.RESULT_ERROR} (bug in pdnet)"
    return result.RESULT_ERROR
