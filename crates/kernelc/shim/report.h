/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the governor has to say. Messages are handed to idlelab, which shows each of them once. */
#ifndef IDLELAB_REPORT_H
#define IDLELAB_REPORT_H

void idlelab_say(const char *format, ...) __attribute__((format(printf, 1, 2), cold));
_Noreturn void idlelab_bug(const char *file, int line, const char *what) __attribute__((cold));

#define KERN_EMERG ""
#define KERN_ALERT ""
#define KERN_CRIT ""
#define KERN_ERR ""
#define KERN_WARNING ""
#define KERN_NOTICE ""
#define KERN_INFO ""
#define KERN_DEBUG ""
#define KERN_CONT ""
#ifndef pr_fmt
#define pr_fmt(format) format
#endif
#define printk(...) idlelab_say(__VA_ARGS__)
#define printk_once(...) idlelab_say(__VA_ARGS__)
#define printk_ratelimited(...) idlelab_say(__VA_ARGS__)
#define trace_printk(...) idlelab_say(__VA_ARGS__)
#define pr_emerg(format, ...) idlelab_say(pr_fmt(format), ##__VA_ARGS__)
#define pr_alert(format, ...) idlelab_say(pr_fmt(format), ##__VA_ARGS__)
#define pr_crit(format, ...) idlelab_say(pr_fmt(format), ##__VA_ARGS__)
#define pr_err(format, ...) idlelab_say(pr_fmt(format), ##__VA_ARGS__)
#define pr_warn(format, ...) idlelab_say(pr_fmt(format), ##__VA_ARGS__)
#define pr_notice(format, ...) idlelab_say(pr_fmt(format), ##__VA_ARGS__)
#define pr_info(format, ...) idlelab_say(pr_fmt(format), ##__VA_ARGS__)
#define pr_err_once pr_err
#define pr_warn_once pr_warn
#define pr_info_once pr_info
#define pr_err_ratelimited pr_err
#define pr_warn_ratelimited pr_warn
#define pr_info_ratelimited pr_info
#define no_printk(...) do { if (0) idlelab_say(__VA_ARGS__); } while (0)
#define pr_debug(format, ...) no_printk(format, ##__VA_ARGS__)
#define pr_devel(format, ...) no_printk(format, ##__VA_ARGS__)

#define BUG() idlelab_bug(__FILE__, __LINE__, "BUG()")
#define BUG_ON(condition) \
	do { if (unlikely(condition)) idlelab_bug(__FILE__, __LINE__, "BUG_ON(" #condition ")"); } while (0)
#define panic(format, ...) idlelab_bug(__FILE__, __LINE__, "panic(" #format ")")

#define WARN_ON(condition) ({						\
	int idlelab_warned = !!(condition);				\
	if (unlikely(idlelab_warned))					\
		idlelab_say("%s:%d: WARN_ON(%s)", __FILE__, __LINE__, #condition); \
	unlikely(idlelab_warned);					\
})
#define WARN(condition, format, ...) ({					\
	int idlelab_warned = !!(condition);				\
	if (unlikely(idlelab_warned))					\
		idlelab_say("%s:%d: " format, __FILE__, __LINE__, ##__VA_ARGS__); \
	unlikely(idlelab_warned);					\
})
#define WARN_ON_ONCE(condition) WARN_ON(condition)
#define WARN_ONCE(condition, ...) WARN(condition, __VA_ARGS__)
#define lockdep_assert_irqs_disabled() do { } while (0)
#define lockdep_assert_preemption_disabled() do { } while (0)

#endif
