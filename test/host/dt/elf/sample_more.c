/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The second unit of the sample: a definition that the first one lacks.
 */
struct hidden {
    short first;
    int second;
};

struct hidden hidden_one = {1, 2};
