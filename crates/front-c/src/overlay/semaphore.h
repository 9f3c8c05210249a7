/* POSIX semaphores: the type is recognised by its name. */
#ifndef PDNET_SEMAPHORE_H
#define PDNET_SEMAPHORE_H 1

#include <time.h>

typedef struct { int pdnet_state; } sem_t;

#define SEM_FAILED ((sem_t *) 0)
#define SEM_VALUE_MAX 2147483647

extern int sem_init(sem_t *, int, unsigned int);
extern int sem_destroy(sem_t *);
extern sem_t *sem_open(const char *, int, ...);
extern int sem_close(sem_t *);
extern int sem_unlink(const char *);
extern int sem_wait(sem_t *);
extern int sem_trywait(sem_t *);
extern int sem_timedwait(sem_t *, const struct timespec *);
extern int sem_clockwait(sem_t *, clockid_t, const struct timespec *);
extern int sem_post(sem_t *);
extern int sem_getvalue(sem_t *, int *);

#endif
