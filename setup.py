"""The extensions, the compiled tables and the description with its links; all else is in pyproject.toml."""

import os
import re
import sys
from glob import glob
from pathlib import Path
from runpy import run_path
from types import ModuleType

import numpy
from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py

DEBUG = os.environ.get("PHONEMIC_DEBUG")
SANITIZE = os.environ.get("PHONEMIC_SANITIZE")
QUICK = os.environ.get("PHONEMIC_QUICK")  # to build in less time, and run slower
ONLY = os.environ.get("PHONEMIC_ONLY", "").split()  # extensions to build; others are missing where they are needed

if sys.platform == "win32":
    compile_args = ["/Od", "/Zi"] if DEBUG else ["/O2"]
    link_args = []
else:
    compile_args = ["-O0", "-g"] if DEBUG else ["-O1"] if SANITIZE else ["-O1" if QUICK else "-O3", "-g0"]
    link_args = []
    if QUICK:  # what the compiler thinks of Cython's code is for those who work on it
        compile_args.append("-w")
    if sys.platform == "linux":  # the loops are made for four kinds of text: GCC would stop inlining halfway
        compile_args += ["--param", "inline-unit-growth=300"]
    if SANITIZE:
        compile_args += ["-g", "-fno-omit-frame-pointer", "-fsanitize=address,undefined"]
        link_args += ["-fsanitize=address,undefined"]

VERSION = run_path("phonemic/version.py")["__version__"]
#: The address of the repository, which a workflow's environment names; "" elsewhere.
REPOSITORY = "{GITHUB_SERVER_URL}/{GITHUB_REPOSITORY}".format_map(os.environ) if os.getenv("GITHUB_REPOSITORY") else ""


def description(repository: str, version: str) -> str:
    """Returns README.md as the registry shows it, where a relative link would be dead.

    Arguments:
        repository: links and pictures lead there, to the files at the tag of the version; if "", the texts of links are
            kept without them, and pictures are left out.
        version: of the package.
    """

    def absolute(link: re.Match[str]) -> str:
        picture, text, target = link.groups()
        if not repository:
            return "" if picture else text
        return f"{picture}[{text}]({repository}/{'raw' if picture else 'blob'}/v{version}/{target})"

    readme = Path("README.md").read_text("utf-8")
    return re.sub(r"(!?)\[([^\]]*)\]\((?!\w+:)([^)\s]+)\)", absolute, readme)


def urls(repository: str, version: str) -> dict[str, str]:
    """Returns the links next to the description.

    Arguments:
        repository: its address; if "", there are none.
        version: of the package.
    """
    pages = {"Source": "", "Documentation": f"/blob/v{version}/docs/index.md", "Issues": "/issues"}
    pages["Changelog"] = f"/blob/v{version}/CHANGELOG.md"
    return {name: f"{repository}{path}" for name, path in pages.items()} if repository else {}


class BuildTables(build_py):
    """Compiles the tables into phonemic/lexicon before the package's files are gathered."""

    def run(self) -> None:
        """Writes the tables, then does what build_py does."""
        # The package's own __init__ needs the extensions, which are not built yet: an empty package stands in for it.
        package = ModuleType("phonemic")
        package.__path__ = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "phonemic")]
        sys.modules["phonemic"] = package
        from phonemic.compiling.tables import main

        main()
        super().run()


class BuildExtensions(build_ext):
    """Compiles the extensions side by side."""

    def build_extensions(self) -> None:
        """Makes the C files, then compiles them; Cython takes processes, which start safely where they are forked."""
        self.parallel = self.parallel or os.cpu_count()
        made = cythonize(self.extensions, nthreads=self.parallel if sys.platform == "linux" else 0)
        for extension, result in zip(self.extensions, made, strict=True):
            extension.sources = result.sources
        super().build_extensions()


setup(
    long_description=description(REPOSITORY, VERSION),
    long_description_content_type="text/markdown",
    project_urls=urls(REPOSITORY, VERSION),
    cmdclass={"build_ext": BuildExtensions, "build_py": BuildTables},
    ext_modules=[
        Extension(
            name,
            [f"{name.replace('.', '/')}.pyx"],
            depends=[*glob("phonemic/*.pxd"), *glob("phonemic/native/*.pxd"), *glob("phonemic/native/*.h")],
            include_dirs=[numpy.get_include(), "phonemic/native"],
            define_macros=[("NPY_NO_DEPRECATED_API", "NPY_1_7_API_VERSION")],
            extra_compile_args=compile_args,
            extra_link_args=link_args,
        )
        for name in (
            "phonemic._core",
            "phonemic.native._batch",
            "phonemic.native._context",
            "phonemic.native._decode",
            "phonemic.native._paths",
            "phonemic.native._spaced",
            "phonemic.native._speech",
            "phonemic.native._written",
            "phonemic.sound._search",
        )
        if not ONLY or name in ONLY
    ],
)
