# SPDX-License-Identifier: MIT
# The whole build: `make` builds, `make help` lists the targets. GNU make, no configure step.
#
# Variables: BUILD (output folder), CC, CFLAGS, CPPFLAGS, LDFLAGS, PREFIX, DESTDIR, V=1 (show commands),
# WERROR=1 (warnings are errors), SANITIZE=address,undefined, TESTS="tree tensor", FUZZ_SECONDS=20,
# FUZZ_TARGETS="npy json".

BUILD ?= build
CFLAGS ?= -O2 -g
PREFIX ?= /usr/local
BINDIR ?= $(PREFIX)/bin
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
SHAREDIR ?= $(PREFIX)/share
DATADIR ?= $(SHAREDIR)/assay
MANDIR ?= $(SHAREDIR)/man
BASHDIR ?= $(SHAREDIR)/bash-completion/completions
ZSHDIR ?= $(SHAREDIR)/zsh/site-functions
FISHDIR ?= $(SHAREDIR)/fish/vendor_completions.d
SCDOC ?= scdoc
CLANG ?= clang
CLANG_FORMAT ?= clang-format
CLANG_TIDY ?= clang-tidy
JOBS ?= $(shell nproc 2>/dev/null || echo 1)
FUZZ_SECONDS ?= 20
SOVERSION := 0
VERSION := $(shell sed -n 's/^.define ASSAY_VERSION_[A-Z]* //p' include/assay/assay.h | paste -sd.)

# ---- compiler: what it can do is tried, not configured --------------------------------------------------------
OPENMP := $(shell t=$$(mktemp) && printf '\043include <omp.h>\nint main(void) { return omp_get_max_threads() < 1; }' | \
	$(CC) -fopenmp -x c - -o $$t 2>/dev/null && echo -fopenmp; rm -f $$t)
# oneDNN gives bench more baselines. Only its header is needed; the library is looked for when a baseline runs.
ONEDNN := $(shell printf '\043include <oneapi/dnnl/dnnl.h>\n' | $(CC) $(CPPFLAGS) $(CFLAGS) -E -x c - >/dev/null 2>&1 && \
	echo -DASSAY_ONEDNN)
X86_64 := $(filter x86_64-% amd64-%,$(shell $(CC) -dumpmachine))

WARNINGS := -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
	$(if $(filter 1,$(WERROR)),-Werror)
SANITIZER := $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-sanitize-recover=all -fno-omit-frame-pointer)
COMPILE = $(CC) -std=c11 -D_GNU_SOURCE -I. -Iinclude -Icore -Idevice $(CPPFLAGS) $(CFLAGS) $(WARNINGS) -fPIC \
	-fvisibility=hidden $(OPENMP) $(ONEDNN) $(SANITIZER)
LINK = $(CC) $(CFLAGS) $(OPENMP) $(SANITIZER) $(LDFLAGS)

# The file name says which instructions a file may use. Only there may the compiler fuse a*b+c: elsewhere results
# must not depend on the machine.
AVX2_FLAGS := $(if $(X86_64),-mavx2 -mfma -mf16c)
AVX512_FLAGS := $(if $(X86_64),-mavx512f -mavx512bw -mavx512dq -mavx512vl $(AVX2_FLAGS))
AVX512BF16_FLAGS := $(if $(X86_64),-mavx512bf16 $(AVX512_FLAGS))
isa = $(if $(filter %_avx512bf16.c,$(1)),$(AVX512BF16_FLAGS),$(if $(filter %_avx512.c,$(1)),$(AVX512_FLAGS),$(if \
	$(filter %_avx2.c,$(1)),$(AVX2_FLAGS),-ffp-contract=off)))

# Of one object only.
DEFINES :=

# ---- files ----------------------------------------------------------------------------------------------------
LIB_CORE := status tensor half rng fill probe probe_gpu probe_huge probe_sanitize file process clock
# Files for instructions that the target does not have are left out; their rows in the tables of variants are too.
LIB_SRC := $(filter-out $(if $(X86_64),,%_avx2.c %_avx512.c %_avx512bf16.c) $(if $(ONEDNN),,%onednn.c),\
	$(wildcard $(LIB_CORE:%=core/%.c) device/*.c ops/*.c ops/*/*.c))
# Learners compile starters and solutions; what else lies beside them judges an exercise that is no operator.
EXERCISE_SRC := $(wildcard workshops/*/*_starter.c workshops/*/*_solution.c)
SRC := $(sort $(LIB_SRC) $(wildcard core/*.c workshops/*.c check/*.c bench/*.c evidence/*.c cli/*.c) \
	$(filter-out $(EXERCISE_SRC),$(wildcard workshops/*/*.c)))
TEST_SRC := $(wildcard tests/test_*.c)
FUZZ_SRC := $(wildcard fuzz/fuzz_*.c)
HEADERS := $(wildcard include/assay/*.h $(addsuffix /*.h,core device ops ops/* workshops check bench evidence cli tests))
FORMATTED := $(SRC) $(EXERCISE_SRC) $(TEST_SRC) $(FUZZ_SRC) $(HEADERS) tests/fake_driver.c

object = $(patsubst %.c,$(BUILD)/%.o,$(1))
# What the program compiles when it runs: it carries the kernels and the headers that they include.
EMBEDDED := $(sort $(wildcard ops/*/*.cu check/*.cu include/assay/assay.h include/assay/workshop.h include/assay/kernel*.h))
# The host half of a variant's kernels is C, and part of the library.
CU_SRC := $(wildcard ops/*/*.cu)
LIB_OBJ := $(call object,$(LIB_SRC)) $(CU_SRC:%=$(BUILD)/%.o) $(BUILD)/embedded.o
OBJ := $(sort $(call object,$(SRC)) $(LIB_OBJ))
TESTED_OBJ := $(filter-out $(BUILD)/cli/main.o,$(OBJ))
TEST_BIN := $(TEST_SRC:%.c=$(BUILD)/%)
# Stands in for the CUDA driver; only the loader ever sees its name.
FAKE_DRIVER := $(BUILD)/tests/fake/libcuda.so.1
FUZZ_BIN := $(FUZZ_SRC:%.c=$(BUILD)/%)
LIBRARIES := $(BUILD)/libassay.a $(BUILD)/libassay.so
LIB_LIBS := -lm -ldl -lpthread
# What is made for an installation only: its messages call the program "assay", and those of a tree "./assay".
INSTALLED := $(BUILD)/installed
RENAMED_OBJ := $(call object,$(shell grep -lw PROGRAM cli/*.c))
SHELLS := bash zsh fish
MAN := $(patsubst docs/man/%.scd,$(INSTALLED)/man/%,$(wildcard docs/man/*.scd))
LIBS := -ljansson -lsodium $(LIB_LIBS)

# A program that is not in build/ must be told where ops/ and workshops/ are.
RUN = ASSAY_SOURCE_DIR='$(CURDIR)' $(BUILD)/assay
Q := $(if $(filter 1,$(V)),,@)
say = $(if $(or $(filter 1,$(V)),$(findstring s,$(firstword -$(MAKEFLAGS)))),@:,@printf '  %-6s %s\n' $(1) $(2))

# ---- build ----------------------------------------------------------------------------------------------------
.PHONY: all tests check check-long sanitize fuzz fuzz-run fuzz-replay fmt lint tidy man package installed install uninstall clean help FORCE
.DELETE_ON_ERROR:
.SECONDARY:

all: $(BUILD)/assay $(LIBRARIES) ## build the program and the library (default)

# Rewritten only when their content changes: other flags rebuild everything, another list of files links again.
$(BUILD)/flags: export CONTENT = $(COMPILE)
$(BUILD)/objects: export CONTENT = $(OBJ:$(BUILD)/%=%) $(LDFLAGS)
$(BUILD)/embedded.list: export CONTENT = $(EMBEDDED)
$(BUILD)/flags $(BUILD)/objects $(BUILD)/embedded.list: FORCE
	@mkdir -p $(@D); printf '%s\n' "$$CONTENT" | cmp -s - $@ || printf '%s\n' "$$CONTENT" >$@

# The library needs neither of these two; before anything else is compiled, a missing one gets a clear message.
need = @printf '\043include <$(1)>\n' | $(CC) $(CPPFLAGS) $(CFLAGS) -E -x c - >/dev/null 2>&1 || { printf '%s\n' \
	"$(1) not found: install $(2) (Debian, Ubuntu), $(3) (Fedora) or $(4) (Arch), or let './setup demo' do it" >&2; exit 1; }
$(BUILD)/requirements: $(BUILD)/flags
	$(call need,jansson.h,libjansson-dev,jansson-devel,jansson)
	$(call need,sodium.h,libsodium-dev,libsodium-devel,libsodium)
	@touch $@

$(BUILD)/%.o: %.c $(BUILD)/flags
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(COMPILE) $(DEFINES) $(call isa,$<) -MMD -MP -c $< -o $@
$(filter-out $(LIB_OBJ),$(OBJ)): | $(BUILD)/requirements

$(BUILD)/%.cu.o: %.cu $(BUILD)/flags
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(COMPILE) -ffp-contract=off -MMD -MP -x c -c $< -o $@

$(BUILD)/embedded.c: $(EMBEDDED) $(BUILD)/embedded.list scripts/embed.sh
	$(call say,EMBED,$@)
	$(Q)scripts/embed.sh $(EMBEDDED) >$@
$(BUILD)/embedded.o: $(BUILD)/embedded.c $(BUILD)/flags
	$(call say,CC,$<)
	$(Q)$(COMPILE) -MMD -MP -c $< -o $@

# Reports say with which flags the library's variants were compiled; the folder of a package's build is none of them.
$(BUILD)/evidence/surroundings.o $(BUILD)/tidy/evidence/surroundings.ok: CPPFLAGS += -DASSAY_BUILD_FLAGS='"$(filter-out -ffile-prefix-map=%,$(CFLAGS))"'

# The revision that `assay --version` shows. A copy of the tree without its history keeps what it was built with.
$(BUILD)/revision: FORCE
	@mkdir -p $(@D); [ -e $@ ] || : >$@; [ ! -e .git ] || ! now=$$(git describe --always --dirty --abbrev=12 --exclude='*' \
	  2>/dev/null) || [ "$$now" = "$$(cat $@)" ] || echo "$$now" >$@
$(BUILD)/cli/main.o: $(BUILD)/revision
$(BUILD)/cli/main.o: DEFINES = -DASSAY_REVISION='"$(shell cat $(BUILD)/revision 2>/dev/null)"'

$(BUILD)/assay: $(OBJ) $(BUILD)/objects
	$(call say,LINK,$@)
	$(Q)$(LINK) $(OBJ) $(LIBS) -o $@

$(BUILD)/libassay.a: $(LIB_OBJ) $(BUILD)/objects
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $(LIB_OBJ)

# What the library exports is what its header declares, under the version of its interface.
$(BUILD)/libassay.map: include/assay/assay.h Makefile
	@mkdir -p $(@D); { echo 'LIBASSAY_$(SOVERSION) { global:'; \
	  sed -n 's/^ASSAY_API [^(]*[ *]\(assay_[a-z0-9_]*\)(.*/  \1;/p' $<; echo 'local: *; };'; } >$@

# A sanitizer's functions come from the program, so only a plain library must be complete in itself (-z defs).
$(BUILD)/libassay.so.$(SOVERSION): $(LIB_OBJ) $(BUILD)/objects $(BUILD)/libassay.map
	$(call say,LINK,$@)
	$(Q)$(LINK) -shared -Wl,-soname,$(@F) -Wl,--version-script,$(BUILD)/libassay.map \
	  $(if $(SANITIZE),,-Wl,-z,defs) $(LIB_OBJ) $(LIB_LIBS) -o $@

$(BUILD)/libassay.so: $(BUILD)/libassay.so.$(SOVERSION)
	$(Q)ln -sf $(<F) $@

# ---- tests ----------------------------------------------------------------------------------------------------
tests: all $(TEST_BIN) $(FAKE_DRIVER) ## build the test programs

$(TEST_BIN): $(BUILD)/%: $(BUILD)/%.o $(TESTED_OBJ) $(BUILD)/objects
	$(call say,LINK,$@)
	$(Q)$(LINK) $< $(TESTED_OBJ) -lcmocka $(LIBS) -o $@

$(FAKE_DRIVER): tests/fake_driver.c $(BUILD)/flags
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=c11 $(CFLAGS) $(WARNINGS) -Wno-unused-parameter -fPIC -shared $< -o $@

check: tests ## build and run the tests; TESTS="tree tensor" picks some
	@BUILD=$(BUILD) CC="$(CC)" tests/run.sh $(TESTS)

# Where there is a clang that can, the readers of foreign files are fuzzed for longer than a look.
check-long: all ## tier L of the checks on every operator, and a minute of fuzzing for each reader of files
	@bad=0; for name in $(patsubst ops/%/,%,$(wildcard ops/*/)); do for what in --library --solution; do \
	  echo "tier L: $$name $$what"; $(RUN) check $$name $$what --tier L || bad=1; done; done; exit $$bad
	@if echo 'int LLVMFuzzerTestOneInput(void); int LLVMFuzzerTestOneInput(void) { return 0; }' | \
	  $(CLANG) -fsanitize=fuzzer -x c - -o /dev/null 2>/dev/null; then \
	  $(MAKE) FUZZ_TARGETS="npy json" FUZZ_SECONDS=60 fuzz; else \
	  echo "no fuzzing: $(CLANG) with libFuzzer is not here"; fi

# Everything but the tests of the installed tree, which want a plain library, and the proof, which would build hundreds
# of programs to learn nothing new about this one. Signals stay with the program, whose judge must see a crash.
SANITIZER_OPTIONS := handle_segv=0:handle_sigbus=0:handle_sigfpe=0:handle_sigill=0:handle_abort=0
# GCC 12's leak checker guesses the bounds of a module's thread-local memory by what lies before it, and crashes on a
# guess that is wrong: it must not keep a list of its own.
sanitize: ## the tests under the address and undefined-behaviour sanitizers
	@ASAN_OPTIONS=$(SANITIZER_OPTIONS):intercept_tls_get_addr=0 UBSAN_OPTIONS=$(SANITIZER_OPTIONS):print_stacktrace=1 \
	  $(MAKE) BUILD=$(BUILD)/sanitize SANITIZE=address,undefined CFLAGS="-O1 -g" \
	  TESTS="$(or $(TESTS),$(filter-out tree prove install add_operator,$(patsubst tests/test_%,%,$(basename $(wildcard tests/test_*.c tests/test_*.sh)))))" check

# Without WERROR: clang warns of loops that the instrumentation keeps from being vectorized.
fuzz: ## run each fuzz target (or FUZZ_TARGETS) for FUZZ_SECONDS (clang with libFuzzer)
	@$(MAKE) WERROR= BUILD=$(BUILD)/fuzz CC=$(CLANG) SANITIZE=fuzzer-no-link,address,undefined fuzz-run

fuzz-replay: ## run each fuzz target once on its kept inputs
	@$(MAKE) FUZZ_LIMIT=-runs=0 fuzz

FUZZ_TARGETS ?= $(patsubst fuzz/fuzz_%.c,%,$(FUZZ_SRC))
FUZZ_LIMIT ?= -max_total_time=$(FUZZ_SECONDS)

$(FUZZ_BIN): $(BUILD)/%: $(BUILD)/%.o $(TESTED_OBJ) $(BUILD)/objects
	$(call say,LINK,$@)
	$(Q)$(LINK) -fsanitize=fuzzer $< $(TESTED_OBJ) $(LIBS) -o $@

# New inputs go to the build folder, where they help the next run; the kept ones are only read.
fuzz-run: $(FUZZ_BIN)
	@for name in $(FUZZ_TARGETS); do \
	  seeds=fuzz/corpus/$$name; [ -d $$seeds ] || seeds=; \
	  echo "fuzzing $$name"; mkdir -p $(BUILD)/found/$$name; \
	  $(BUILD)/fuzz/fuzz_$$name $(FUZZ_LIMIT) -timeout=10 -rss_limit_mb=2048 -artifact_prefix=$(BUILD)/found/ \
	    $(BUILD)/found/$$name $$seeds >$(BUILD)/fuzz_$$name.log 2>&1 || \
	    { tail -n 40 $(BUILD)/fuzz_$$name.log; echo "fuzz_$$name failed, its input is in $(BUILD)/found" >&2; exit 1; }; \
	  tail -n 1 $(BUILD)/fuzz_$$name.log; done

# ---- style ----------------------------------------------------------------------------------------------------
fmt: ## format all sources
	$(CLANG_FORMAT) -i $(FORMATTED)

lint: $(LIBRARIES) ## formatting, style rules, spelling, cppcheck and clang-tidy
	$(CLANG_FORMAT) --dry-run -Werror $(FORMATTED)
	@BUILD=$(BUILD) tests/lint.sh
	@$(MAKE) --no-print-directory $(if $(findstring -j,$(MAKEFLAGS)),,-j$(JOBS)) tidy

tidy: $(patsubst %.c,$(BUILD)/tidy/%.ok,$(SRC) $(EXERCISE_SRC) $(TEST_SRC) $(FUZZ_SRC))

# Behind the object, so that a changed header is seen here too.
$(BUILD)/tidy/%.ok: %.c $(BUILD)/%.o .clang-tidy
	$(call say,TIDY,$<)
	@mkdir -p $(@D)
	$(Q)$(CLANG_TIDY) --quiet $< -- $(wordlist 2,99,$(COMPILE)) $(call isa,$<) >$@.log 2>&1 || { cat $@.log; exit 1; }
	@touch $@

# ---- install --------------------------------------------------------------------------------------------------
$(INSTALLED)/%.o: %.c $(BUILD)/flags
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(COMPILE) -DPROGRAM='"assay"' -ffp-contract=off -MMD -MP -c $< -o $@

$(INSTALLED)/assay: $(RENAMED_OBJ:$(BUILD)/%=$(INSTALLED)/%) $(filter-out $(RENAMED_OBJ),$(OBJ)) $(BUILD)/objects
	$(call say,LINK,$@)
	$(Q)$(LINK) $(filter %.o,$^) $(LIBS) -o $@

$(SHELLS:%=$(INSTALLED)/completion.%): $(INSTALLED)/completion.%: $(INSTALLED)/assay
	$(Q)$< completion $* >$@

man: $(MAN) ## the manual pages, with scdoc

$(INSTALLED)/man/%: docs/man/%.scd
	$(call say,MAN,$@)
	@mkdir -p $(@D)
	$(Q)$(SCDOC) <$< >$@

# Paths in both files are those of the final place; that of CMake finds it from where the file itself lies.
from = $(shell realpath -m --relative-to='$(1)' '$(2)')
$(INSTALLED)/%: packaging/%.in FORCE
	@mkdir -p $(@D)
	$(Q)sed -e 's|@PREFIX@|$(PREFIX)|; s|@LIBDIR@|$(LIBDIR)|; s|@INCLUDEDIR@|$(INCLUDEDIR)|; s|@VERSION@|$(VERSION)|' \
	  -e 's|@OPENMP@|$(OPENMP)|; s|@SOVERSION@|$(SOVERSION)|; s|@LIB_UP@|$(call from,$(LIBDIR)/cmake/assay,$(LIBDIR))|' \
	  -e 's|@INCLUDE_UP@|$(call from,$(LIBDIR)/cmake/assay,$(INCLUDEDIR))|' $< >$@

# What the program reads while it runs: exercises, headers for kernels, and the sources that reports are held against.
DATA = $(shell find ops workshops include -type f ! -name '.*' ! -name '*~') $(wildcard check/*.cu)
CMAKE_FILES := assay-config.cmake assay-config-version.cmake
PAGES := $(if $(shell command -v $(SCDOC)),$(MAN))
put = install -D -m $(1) $(2) $(DESTDIR)$(3)

installed: all $(INSTALLED)/assay $(INSTALLED)/assay.pc $(CMAKE_FILES:%=$(INSTALLED)/%) \
  $(SHELLS:%=$(INSTALLED)/completion.%) $(PAGES)

install: installed ## install under PREFIX (/usr/local), staged in DESTDIR
	$(call put,755,$(INSTALLED)/assay,$(BINDIR)/assay)
	$(call put,644,$(BUILD)/libassay.a,$(LIBDIR)/libassay.a)
	$(call put,755,$(BUILD)/libassay.so.$(SOVERSION),$(LIBDIR)/libassay.so.$(SOVERSION))
	ln -sf libassay.so.$(SOVERSION) $(DESTDIR)$(LIBDIR)/libassay.so
	$(call put,644,include/assay/assay.h,$(INCLUDEDIR)/assay/assay.h)
	$(call put,644,$(INSTALLED)/assay.pc,$(LIBDIR)/pkgconfig/assay.pc)
	install -d $(DESTDIR)$(LIBDIR)/cmake/assay $(DESTDIR)$(MANDIR)/man1
	install -m 644 $(CMAKE_FILES:%=$(INSTALLED)/%) $(DESTDIR)$(LIBDIR)/cmake/assay
	$(call put,644,$(INSTALLED)/completion.bash,$(BASHDIR)/assay)
	$(call put,644,$(INSTALLED)/completion.zsh,$(ZSHDIR)/_assay)
	$(call put,644,$(INSTALLED)/completion.fish,$(FISHDIR)/assay.fish)
	$(if $(PAGES),install -m 644 $(PAGES) $(DESTDIR)$(MANDIR)/man1,@echo 'no manual pages: $(SCDOC) is not here')
	@for file in $(DATA); do $(call put,644,$$file,$(DATADIR)/$$file) || exit 1; done
	@sed -i 's|\./assay |assay |g' $(addprefix $(DESTDIR)$(DATADIR)/,$(filter %.md %_starter.c %_starter.cu,$(DATA)))

uninstall: ## remove what install put there
	rm -f $(addprefix $(DESTDIR),$(BINDIR)/assay $(LIBDIR)/pkgconfig/assay.pc $(INCLUDEDIR)/assay/assay.h \
	  $(LIBDIR)/libassay.a $(LIBDIR)/libassay.so $(LIBDIR)/libassay.so.$(SOVERSION) $(CMAKE_FILES:%=$(LIBDIR)/cmake/assay/%) \
	  $(BASHDIR)/assay $(ZSHDIR)/_assay $(FISHDIR)/assay.fish $(patsubst docs/man/%.scd,$(MANDIR)/man1/%,$(wildcard docs/man/*.scd)))
	rm -rf $(addprefix $(DESTDIR)$(DATADIR)/,ops workshops include check)
	-rmdir $(addprefix $(DESTDIR),$(INCLUDEDIR)/assay $(LIBDIR)/cmake/assay $(DATADIR)) 2>/dev/null

package: ## the Debian packages, built and tried: scripts/package.sh says how
	scripts/package.sh

clean: ## remove the build folder
	rm -rf $(BUILD)

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*\#\# /\1\t/p' Makefile | expand -t 14

-include $(RENAMED_OBJ:$(BUILD)/%.o=$(INSTALLED)/%.d) $(BUILD)/embedded.d $(CU_SRC:%=$(BUILD)/%.d) $(patsubst %.c,$(BUILD)/%.d,$(SRC) $(TEST_SRC) $(FUZZ_SRC) $(EXERCISE_SRC))
