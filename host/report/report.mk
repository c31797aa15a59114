# SPDX-License-Identifier: BSD-2-Clause
#
# The page of `kymo report`: host/report/page/ as two files, what stands before a page's blocks and what
# stands behind them, and an object that holds both. Included by host/host.mk.

REPORT_GEN := $(B)/gen/report
REPORT_PAGE := host/report/page
# The scripts are parts of one program each, in this order: no part knows the others' names beforehand.
REPORT_VIEWS := frame.js chart.js findings.js summary.js statistics.js service.js latency.js moment.js log.js \
                conditions.js aggregate.js whole.js
REPORT_SCRIPT := $(addprefix $(REPORT_PAGE)/,data.js model.js why.js view.js lanes.js path.js panel.js keys.js \
                 $(addprefix views/,$(REPORT_VIEWS)) served.js start.js)
REPORT_WORKER := $(addprefix $(REPORT_PAGE)/,decode.js build.js views/account.js worker.js views/condition.js)
REPORT_STYLE := $(addprefix $(REPORT_PAGE)/,page.css views/views.css)

$(REPORT_GEN)/script.js: $(REPORT_SCRIPT)
	@mkdir -p $(@D)
	$(Q)cat $^ >$@
$(REPORT_GEN)/page.css: $(REPORT_STYLE)
	@mkdir -p $(@D)
	$(Q)cat $^ >$@
$(REPORT_GEN)/worker.js: $(REPORT_WORKER)
	@mkdir -p $(@D)
	$(Q)cat $^ >$@
# A page runs this script and no other: its head names the sum of the script and of the style.
report_sum = $$(sha256sum <$(1) | cut -c 1-64 | tr a-f A-F | basenc --base16 -d | basenc --base64)
$(REPORT_GEN)/head.html: $(REPORT_PAGE)/head.html $(REPORT_PAGE)/body.html $(REPORT_GEN)/page.css $(REPORT_GEN)/script.js
	$(Q)sed "s|@SCRIPT@|$(call report_sum,$(REPORT_GEN)/script.js)|; \
	    s|@STYLE@|$(call report_sum,$(REPORT_GEN)/page.css)|" $(REPORT_PAGE)/head.html >$@.new
	$(Q){ printf '<style>'; cat $(REPORT_GEN)/page.css; printf '</style>\n</head>\n'; \
	    cat $(REPORT_PAGE)/body.html; } >>$@.new && mv $@.new $@
$(REPORT_GEN)/tail.html: $(REPORT_GEN)/script.js $(REPORT_GEN)/worker.js
	$(Q){ printf '<script type="text/plain" id="worker">'; cat $(REPORT_GEN)/worker.js; \
	    printf '</script>\n<script>'; cat $(REPORT_GEN)/script.js; printf '</script>\n</body>\n</html>\n'; } >$@

REPORT_PAGE_OBJ := $(B)/host/host/report/page.o
$(REPORT_PAGE_OBJ): host/report/page.S $(REPORT_GEN)/head.html $(REPORT_GEN)/tail.html
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) -DREPORT_HEAD='"$(REPORT_GEN)/head.html"' -DREPORT_TAIL='"$(REPORT_GEN)/tail.html"' -c -o $@ $<
