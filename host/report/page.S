/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The page of `kymo report` around its blocks, as report.mk has put it together.
 */
    .section .rodata
    .global report_page_head, report_page_head_end, report_page_tail, report_page_tail_end
report_page_head:
    .incbin REPORT_HEAD
report_page_head_end:
    .byte 0
report_page_tail:
    .incbin REPORT_TAIL
report_page_tail_end:
    .byte 0
    .section .note.GNU-stack, "", %progbits
