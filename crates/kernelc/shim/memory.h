/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory, strings and lists. */
#ifndef IDLELAB_MEMORY_H
#define IDLELAB_MEMORY_H

void *memset(void *to, int byte, size_t size);
void *memcpy(void *to, const void *from, size_t size);
void *memmove(void *to, const void *from, size_t size);
int memcmp(const void *a, const void *b, size_t size);
size_t strlen(const char *text);
int strcmp(const char *a, const char *b);
int strncmp(const char *a, const char *b, size_t size);
int idlelab_snprintf(char *to, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
#define snprintf(...) idlelab_snprintf(__VA_ARGS__)

#define container_of(pointer, type, member) \
	((type *)((char *)(pointer) - offsetof(type, member)))

#define LIST_HEAD_INIT(name) { &(name), &(name) }
#define LIST_HEAD(name) struct list_head name = LIST_HEAD_INIT(name)
static inline void INIT_LIST_HEAD(struct list_head *list) { list->next = list->prev = list; }

#endif
