/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The boot image (a newc cpio archive named by IMAGE) as an object file: boot_file() looks between
 * these two symbols. Aligned so that ELF headers in it may be read as structs. Behind it is the
 * image's name, IMAGE_NAME, for the system page. IMAGE_RETAINS: 0 if the image leaves the board's
 * retained memory to its programs (board.mk: RETAIN_IMAGES).
 */
#ifndef IMAGE_RETAINS
#define IMAGE_RETAINS 1
#endif
    .section .boot_image, "a", %progbits
    .balign 4096
    .global boot_image_start
boot_image_start:
    .incbin IMAGE
    .global boot_image_end
boot_image_end:
    .balign 4
    .global boot_image_retains
boot_image_retains:
    .4byte IMAGE_RETAINS
    .global boot_image_name
boot_image_name:
    .asciz IMAGE_NAME
    .balign 16
    .section .note.GNU-stack, "", %progbits
