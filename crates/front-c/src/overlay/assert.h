/* Assertions as plain calls. As in every C library, each inclusion looks at NDEBUG again. */
#ifndef PDNET_ASSERT_H
#define PDNET_ASSERT_H 1
extern void __pdnet_assert(_Bool);
#ifndef __cplusplus
#undef static_assert
#define static_assert _Static_assert
#endif
#endif

#undef assert
#ifdef NDEBUG
#define assert(e) ((void) 0)
#else
#define assert(e) __pdnet_assert(e)
#endif
