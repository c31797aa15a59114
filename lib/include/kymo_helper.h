/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Helpers: a program brings D by which jstack() names the frames of its stack, see
 * docs/guide/helpers.md.
 *
 *   KYMO_HELPER("apps/stackvm/stackvm.d");     at file level, once or more in a program
 *
 * The file's text becomes a note of the ELF file, which is not loaded and takes no memory on the
 * target. The assembler opens the path: it is relative to the compiler's working directory, or to a
 * folder of -I.
 */
#ifndef KYMO_HELPER_H
#define KYMO_HELPER_H

#define KYMO_HELPER(file) \
    __asm__(".pushsection .note.kymo_helper,\"\",%note\n\t" \
            ".balign 4\n\t" \
            ".4byte 5, 982f - 981f, 1\n\t" /* the owner's length, the text's, the type */ \
            ".asciz \"Kymo\"\n\t" \
            ".balign 4\n" \
            "981: .incbin \"" file "\"\n" \
            "982: .balign 4\n\t" \
            ".popsection")

#endif
