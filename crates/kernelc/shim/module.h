/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How the file becomes part of the kernel: initcalls, and parameters at their defaults. */
#ifndef IDLELAB_MODULE_H
#define IDLELAB_MODULE_H

typedef int (*idlelab_initcall)(void);

/* The linker gathers them; guest.c runs them in order. */
#define IDLELAB_INITCALL(function) \
	static const idlelab_initcall idlelab_initcall_##function \
	__attribute__((used, section("idlelab_initcalls"))) = (function)
#define early_initcall(function) IDLELAB_INITCALL(function);
#define core_initcall(function) IDLELAB_INITCALL(function);
#define postcore_initcall(function) IDLELAB_INITCALL(function);
#define arch_initcall(function) IDLELAB_INITCALL(function);
#define subsys_initcall(function) IDLELAB_INITCALL(function);
#define fs_initcall(function) IDLELAB_INITCALL(function);
#define device_initcall(function) IDLELAB_INITCALL(function);
#define late_initcall(function) IDLELAB_INITCALL(function);
#define module_init(function) IDLELAB_INITCALL(function);
#define module_exit(function) \
	static __attribute__((unused)) void (*const idlelab_exitcall)(void) = (function);

#define IDLELAB_NOTHING(name) struct idlelab_nothing_##name
#define module_param(name, type, mode) IDLELAB_NOTHING(name)
#define module_param_named(name, value, type, mode) IDLELAB_NOTHING(name)
#define core_param(name, value, type, mode) IDLELAB_NOTHING(name)
#define MODULE_PARM_DESC(name, text) IDLELAB_NOTHING(name)
#define MODULE_LICENSE(text) IDLELAB_NOTHING(license)
#define MODULE_AUTHOR(text) IDLELAB_NOTHING(author)
#define MODULE_DESCRIPTION(text) IDLELAB_NOTHING(description)
#define MODULE_ALIAS(text) IDLELAB_NOTHING(alias)
#define MODULE_VERSION(text) IDLELAB_NOTHING(version)
#define EXPORT_SYMBOL(name) IDLELAB_NOTHING(export)
#define EXPORT_SYMBOL_GPL(name) IDLELAB_NOTHING(export)
#define EXPORT_PER_CPU_SYMBOL_GPL(name) IDLELAB_NOTHING(export)
#define THIS_MODULE ((struct module *)0)

/* haltpoll is for guests, so let this be one. */
#define kvm_para_available() true
#define kvm_para_has_hint(hint) ((void)(hint), false)

#endif
