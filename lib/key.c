/* SPDX-License-Identifier: BSD-2-Clause */
/* <pthread.h>: thread-specific values. A few keys per program, values in the thread's tcb. */
#include <errno.h>
#include <pthread.h>

#include "lib/thread.h"

_Static_assert(PTHREAD_KEYS_MAX == KYMO_KEYS, "number of keys");
#define DESTRUCTOR_ROUNDS 4

static struct {
    bool used;                  /* [list] */
    void (*destructor)(void *); /* [list] */
} keys[KYMO_KEYS];

int pthread_key_create(pthread_key_t *key, void (*destructor)(void *))
{
    int error = EAGAIN;

    kymo_threads_lock();
    for (int i = 0; i < KYMO_KEYS && error != 0; i++) {
        if (!keys[i].used) {
            keys[i].used = true;
            keys[i].destructor = destructor;
            *key = i;
            error = 0;
        }
    }
    kymo_threads_unlock();
    return error;
}

int pthread_key_delete(pthread_key_t key)
{
    if (key < 0 || key >= KYMO_KEYS || !keys[key].used) {
        return EINVAL;
    }
    kymo_threads_lock();
    keys[key].used = false;
    keys[key].destructor = NULL;
    kymo_threads_unlock();
    return 0;
}

void *pthread_getspecific(pthread_key_t key)
{
    return key >= 0 && key < KYMO_KEYS ? kymo_self()->value[key] : NULL;
}

int pthread_setspecific(pthread_key_t key, const void *value)
{
    if (key < 0 || key >= KYMO_KEYS || !keys[key].used) {
        return EINVAL;
    }
    kymo_self()->value[key] = (void *)value;
    return 0;
}

void kymo_keys_end(struct kymo_tcb *self)
{
    for (int round = 0; round < DESTRUCTOR_ROUNDS; round++) {
        for (int i = 0; i < KYMO_KEYS; i++) {
            void *value = self->value[i];

            self->value[i] = NULL;
            if (value && keys[i].used && keys[i].destructor) {
                keys[i].destructor(value);
            }
        }
    }
}
