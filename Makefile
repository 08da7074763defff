# make demo   text over its onsets, rimes and tones, in a light environment of its own; FILE=text.txt LANG=vi for yours
# make test   sets everything up, checks style and types, and runs the tests
# make docs   checks how the pages are written and builds them as a site in build/site
# make test-benchmarks   runs the tests of the scripts in benchmarks/
# make test-compiled   runs the tests of torch.compile
# make bench       measures speed compared with the limits and other tools: DATA=folder BENCH_OPTIONS="--only limits"
# make release-check   checks the workflows, the wheel and the sdist, and tests the repaired wheel by itself
# make sanitize   builds the core with sanitizers, runs its tests and fuzzes it: SECONDS=120
# make bench-gate   counts the core's instructions (valgrind) and compares them with benchmarks/gate.json
# make test-models   runs the model's tests with each release of transformers that is named below
# make test-lowest   runs the toolkit's tests with the oldest releases of other packages that pyproject.toml allows
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
TORCH ?= torch==2.13.0
# Processes that run the tests; each takes about a gigabyte, and one thread of torch.
WORKERS ?= 2
# Without bytecode, each of the thousand processes that tests start would compile its modules again.
unexport PYTHONDONTWRITEBYTECODE
TEST := python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder
TRANSFORMERS ?= 4.53.2 5.23.0 5.24.0
DEMO := build/demo
# Those that the demo needs: all would take twice as long to build.
DEMO_EXTENSIONS := $(addprefix phonemic.,_core native._batch native._context native._decode native._spaced)
# The sources of an installed copy.
SOURCES := pyproject.toml setup.py $(shell find phonemic -name '*.pyx' -o -name '*.pxd' -o -name '*.h' -o -name '*.tsv' -o -path '*/lexicon/*.py' -o -path '*/compiling/*.py' -o -path '*/reading/*.py')
LANG_OF_FILE := $(if $(filter vi zh,$(LANG)),--lang $(LANG))

.PHONY: demo test run-tests test-benchmarks test-compiled test-models test-lowest lint format docs bench bench-gate sanitize sdist-check release-check packages-check clean

demo: $(DEMO)/installed
	PYTHONPATH=$(DEMO)/lib $(DEMO)/bin/python examples/demo.py $(if $(FILE),"$(FILE)") $(LANG_OF_FILE) --html build/demo.html

# Side by side: the types take a core for a minute.
test: $(VENV)/installed
	$(MAKE) -j2 lint run-tests

run-tests: $(VENV)/installed
	OMP_NUM_THREADS=1 $(BIN)/$(TEST) -m "not benchmarks and not compiled"

# The tests of the scripts in benchmarks/.
test-benchmarks: $(VENV)/installed
	OMP_NUM_THREADS=1 $(BIN)/$(TEST) -m benchmarks

# Traced in several seconds each, and generated code, which a C++ compiler takes minutes for.
test-compiled: $(VENV)/installed
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -q -m compiled tests/model

# An environment for each release; its tests import nothing from the others'.
test-models:
	set -e; for release in $(TRANSFORMERS); do \
		env=build/transformers-$$release; \
		test -x $$env/bin/python || $(PYTHON) -m venv $$env; \
		$$env/bin/pip install --quiet --disable-pip-version-check '$(TORCH)'; \
		$$env/bin/pip install --quiet --disable-pip-version-check --editable '.[baselines,corpus,finetune,pretrain]' transformers==$$release \
			peft pytest hypothesis pypinyin==0.55.0; \
		$$env/bin/python -m pytest tests/model; \
	done

# The oldest releases that pyproject.toml allows of what the toolkit needs without spaCy and torch. Their warnings about
# newer releases of what they need themselves are not errors here.
LOWEST_EXTRAS := arrow cli corpus nltk tasks
LOWEST := build/lowest
test-lowest:
	test -x $(LOWEST)/bin/python || $(PYTHON) -m venv $(LOWEST)
	$(LOWEST)/bin/pip install --quiet --disable-pip-version-check pytest pytest-xdist hypothesis "pypinyin==0.55.0" \
		$$($(PYTHON) tests/lowest.py $(LOWEST_EXTRAS))
	$(LOWEST)/bin/pip install --quiet --disable-pip-version-check --no-deps --editable .
	OMP_NUM_THREADS=1 $(LOWEST)/bin/$(TEST) -q -m "not benchmarks" -W ignore::DeprecationWarning tests

lint: $(VENV)/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python docs/rules.py
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/cython-lint phonemic/*.pyx phonemic/*.pxd phonemic/native/*.pyx phonemic/native/*.pxd phonemic/sound/*.pyx

# The site, without warnings; the reference is read from the sources, which need not be built for it.
docs: build/docs/installed
	$(PYTHON) docs/rules.py
	NO_MKDOCS_2_WARNING=1 build/docs/bin/mkdocs build --strict --quiet
	@echo "build/site/index.html"

build/docs/installed: pyproject.toml
	test -x build/docs/bin/python || $(PYTHON) -m venv build/docs
	build/docs/bin/pip install --quiet --disable-pip-version-check $$($(PYTHON) -c \
		"import tomllib; print(*tomllib.load(open('pyproject.toml', 'rb'))['dependency-groups']['docs'])")
	touch $@

# Speed compared with the least-work programs and other tools, on real data: make bench DATA=folder
bench: $(VENV)/other-tools
	$(BIN)/python benchmarks/speed.py $(if $(DATA),--data $(DATA)) $(BENCH_OPTIONS)

# Tools that pip refuses are left out: the table then says that they are not installed.
$(VENV)/other-tools: $(VENV)/installed benchmarks/other_tools.txt
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[dev,bench]'
	for tool in $$(grep -v '^#' benchmarks/other_tools.txt); do $(BIN)/pip install --quiet --disable-pip-version-check $$tool || true; done
	touch $@

format: $(VENV)/installed
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench-gate: $(VENV)/installed
	$(BIN)/python benchmarks/gate.py

# The core with address and undefined-behaviour sanitizers, in a folder of its own: its tests, and a fuzz of SECONDS.
# Leaks of the interpreter's own are no matter; libstdc++ is loaded first because pyarrow throws through it.
SECONDS ?= 120
SANITIZED := ASAN_OPTIONS=detect_leaks=0:abort_on_error=1 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
	PYTHONMALLOC=malloc OMP_NUM_THREADS=1 \
	LD_PRELOAD="$$(gcc -print-file-name=libasan.so) $$(gcc -print-file-name=libubsan.so) $$(gcc -print-file-name=libstdc++.so.6)"
SANITIZED_TESTS := test_arrow.py test_core_guards.py test_letters.py test_packed.py test_paths.py test_properties.py test_readings.py test_spacing.py \
	test_decoding_forms.py test_forms.py test_forms_properties.py test_speech.py test_subclasses.py test_tokenizer.py sound/test_index.py fuzz
# Tests that take long there and find nothing more: the fuzz makes cases of its own.
SANITIZED_WITHOUT := not 200_mb and not without_end and not test_cases and not no_position and not raw_text and not both_scripts

sanitize: $(VENV)/installed
	PHONEMIC_SANITIZE=1 $(BIN)/python setup.py -q build --build-base build/sanitize --build-lib build/sanitize/lib
	rm -rf build/sanitize/lib/tests && cp -R tests examples build/sanitize/lib
	cd build/sanitize/lib && PYTHONPATH=. $(SANITIZED) $(abspath $(BIN))/python -c \
		"import phonemic; assert 'sanitize' in phonemic.__file__; print('sanitized:', phonemic._core.__file__)"
	cd build/sanitize/lib && PYTHONPATH=. $(SANITIZED) $(abspath $(BIN))/python -m pytest -q -p no:cacheprovider -c $(CURDIR)/pyproject.toml \
		--rootdir . -o pythonpath= -k "$(SANITIZED_WITHOUT)" $(addprefix tests/,$(SANITIZED_TESTS))
	cd build/sanitize/lib && PYTHONPATH=. $(SANITIZED) $(abspath $(BIN))/python tests/fuzz/fuzz.py --seconds $(SECONDS) --seed 7

# The sdist alone, in an empty folder and a fresh environment: it installs with what it needs and works; then, with what
# the extras need lent from here, tests of its own pass on what was installed. Some of each package: that the files are
# there and work; `make test` tests what they do, and packing pipelines, which needs the newest setuptools.
SDIST_TESTS := tests/test_tokenizer.py tests/test_vietnamese.py tests/test_mandarin.py tests/test_arrow.py tests/test_nltk_tokenizer.py \
	tests/test_saved.py tests/cli/test_cli*.py tests/cli/test_encode_decode.py tests/sound/test_distance.py tests/with_spacy/test_spacy.py \
	tests/encoder/test_encoder_options.py tests/model/test_modeling.py
SDIST_BYTES := 3000000
check-size = size=$$(cat $(1)/*.tar.gz | wc -c); echo "sdist: $$size bytes, at most $(SDIST_BYTES)"; test $$size -le $(SDIST_BYTES)
sdist-check: $(VENV)/installed
	rm -rf build/sdist && mkdir -p build/sdist
	$(BIN)/python -m build --outdir build/sdist .
	$(call check-size,build/sdist)
	cd build/sdist && tar -xzf phonemic-*.tar.gz && $(abspath $(BIN))/python -m venv venv
	cd build/sdist && venv/bin/pip install --quiet --disable-pip-version-check phonemic-*.whl
	cd build/sdist && venv/bin/python -c \
		"import phonemic; assert 'build/sdist/venv' in phonemic.__file__; print(phonemic.Tokenizer('vi').encode('tiếng').tokens)"
	site='import sysconfig; print(sysconfig.get_path("purelib"))' && \
		$(BIN)/python -c "$$site" > "$$(build/sdist/venv/bin/python -c "$$site")/lent.pth"
	cd build/sdist && rm -rf phonemic-*/*phonemic phonemic-*/model && cd phonemic-*/ && env -u PHONEMIC_DATA OMP_NUM_THREADS=1 ../venv/bin/$(TEST) -q -m "not benchmarks" -k "not test_package" $(SDIST_TESTS)

# The parts of a release, as far as one machine can test them, in a light environment: the workflows, the wheel, the
# sdist; the wheel is repaired (Linux), installed where nothing else is, and tested there as cibuildwheel's are.
RELEASE := build/release
release-check: $(RELEASE)/installed
	$(RELEASE)/bin/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(RELEASE)/bin/check-jsonschema --builtin-schema vendor.dependabot .github/dependabot.yml
	rm -rf $(RELEASE)/dist $(RELEASE)/wheels $(RELEASE)/empty $(RELEASE)/tests
	$(RELEASE)/bin/python -m build --outdir $(RELEASE)/dist .
	mkdir $(RELEASE)/wheels
	if test "$$(uname)" = Linux; then \
		PATH="$(abspath $(RELEASE)/bin):$$PATH" $(RELEASE)/bin/auditwheel repair --wheel-dir $(RELEASE)/wheels $(RELEASE)/dist/*.whl; \
	else cp $(RELEASE)/dist/*.whl $(RELEASE)/wheels; fi
	cp $(RELEASE)/dist/*.tar.gz $(RELEASE)/wheels
	$(MAKE) packages-check DIST=$(RELEASE)/wheels
	$(PYTHON) -m venv $(RELEASE)/empty
	$(RELEASE)/empty/bin/pip install --quiet --disable-pip-version-check $(RELEASE)/wheels/*.whl
	$(RELEASE)/empty/bin/python -I -c "import phonemic; print(phonemic.Tokenizer('vi').encode('tiếng Việt').ids, phonemic.__file__)"
	$(RELEASE)/empty/bin/pip install --quiet --disable-pip-version-check $$($(CIBUILDWHEEL) print(*c['test-requires'])")
	mkdir $(RELEASE)/tests && cp -R $$($(CIBUILDWHEEL) print(*c['test-sources'])") $(RELEASE)/tests
	cd $(RELEASE)/tests && PATH="$(abspath $(RELEASE)/empty/bin):$$PATH" sh -c "$$(cd $(CURDIR) && $(CIBUILDWHEEL) print(c['test-command'])")"
CIBUILDWHEEL = $(PYTHON) -c "import tomllib; c = tomllib.load(open('pyproject.toml', 'rb'))['tool']['cibuildwheel'];

# Files for the registry, wherever they were built: make packages-check DIST=folder
DIST ?= dist
packages-check: $(RELEASE)/installed
	$(RELEASE)/bin/twine check --strict $(DIST)/*
	$(RELEASE)/bin/check-wheel-contents $(DIST)/*.whl
	$(call check-size,$(DIST))

$(RELEASE)/installed: pyproject.toml
	test -x $(RELEASE)/bin/python || $(PYTHON) -m venv $(RELEASE)
	$(PYTHON) -c "import tomllib; print(*tomllib.load(open('pyproject.toml', 'rb'))['dependency-groups']['release'], sep='\n')" \
		> $(RELEASE)/requirements.txt
	$(RELEASE)/bin/pip install --quiet --disable-pip-version-check --requirement $(RELEASE)/requirements.txt
	touch $@

# The tokenizer and what the demonstration prints with; numpy is installed once, for building and for running.
# Compiled with little optimization, which takes a third of the time, into a folder of its own.
$(DEMO)/installed: $(SOURCES)
	test -x $(DEMO)/bin/python || $(PYTHON) -m venv $(DEMO)
	$(DEMO)/bin/pip install --quiet --disable-pip-version-check --no-compile rich \
		$$($(PYTHON) -c "import tomllib; print(*tomllib.load(open('pyproject.toml', 'rb'))['build-system']['requires'])")
	export PHONEMIC_QUICK=1 PHONEMIC_ONLY="$(DEMO_EXTENSIONS)"; \
		$(DEMO)/bin/python setup.py -q build_py --build-lib $(DEMO)/lib & tables=$$!; \
		$(DEMO)/bin/python setup.py -q build_ext --build-temp $(DEMO)/build --build-lib $(DEMO)/lib && wait $$tables
	touch $@

$(VENV)/installed: $(SOURCES)
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check '$(TORCH)'
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $@

clean:
	rm -rf $(VENV) build dist *.egg-info phonemic/_core.c phonemic/native/_batch.c phonemic/native/_context.c phonemic/native/_speech.c phonemic/sound/_search.c phonemic/*.so phonemic/native/*.so phonemic/sound/*.so phonemic/lexicon/*.bin
