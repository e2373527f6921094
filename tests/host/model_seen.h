/* SPDX-License-Identifier: Apache-2.0 */
/* What the model has met. A long run must have met all of it. */
#ifndef TESTS_HOST_MODEL_SEEN_H
#define TESTS_HOST_MODEL_SEEN_H

#include <stdint.h>

#define MODEL_SEEN(X)                                                                              \
	X(shown)                                                                                   \
	X(fault_unshown)                                                                           \
	X(start_unseen)                                                                            \
	X(config_unseen)                                                                           \
	X(config_beside_shown)                                                                     \
	X(config_crowded)                                                                          \
	X(config_with_budget)                                                                      \
	X(config_dropped)                                                                          \
	X(config_new)                                                                              \
	X(config_home)                                                                             \
	X(config_not_home)                                                                         \
	X(config_shared)                                                                           \
	X(config_replaces_stopped)                                                                 \
	X(config_fw)                                                                               \
	X(config_fw_port)                                                                          \
	X(config_fw_tally)                                                                         \
	X(config_raw)                                                                              \
	X(config_raw_v2)                                                                           \
	X(config_cache)                                                                            \
	X(config_clear)                                                                            \
	X(config_auto_start)                                                                       \
	X(config_auto_start_near)                                                                  \
	X(config_invalid_flags)                                                                    \
	X(config_invalid_set)                                                                      \
	X(config_empty_set)                                                                        \
	X(config_bad_event)                                                                        \
	X(config_not_allowed)                                                                      \
	X(config_hfence)                                                                           \
	X(config_platform)                                                                         \
	X(config_tally_beyond)                                                                     \
	X(config_fixed_other)                                                                      \
	X(config_other_group)                                                                      \
	X(config_other_name)                                                                       \
	X(config_on_fixed)                                                                         \
	X(config_instret_taken)                                                                    \
	X(config_second_filter)                                                                    \
	X(config_no_counter)                                                                       \
	X(skip_new)                                                                                \
	X(skip_stopped)                                                                            \
	X(skip_running_same)                                                                       \
	X(skip_running_same_clear)                                                                 \
	X(skip_running_other)                                                                      \
	X(skip_wrong_kind)                                                                         \
	X(skip_fixed_other)                                                                        \
	X(skip_infeasible)                                                                         \
	X(start_ok)                                                                                \
	X(start_several)                                                                           \
	X(start_keeps_value)                                                                       \
	X(start_near)                                                                              \
	X(start_far)                                                                               \
	X(start_clears_of)                                                                         \
	X(start_empty_set)                                                                         \
	X(start_invalid_flags)                                                                     \
	X(start_both_init_flags)                                                                   \
	X(start_invalid_set)                                                                       \
	X(start_unconfigured)                                                                      \
	X(start_already)                                                                           \
	X(start_already_and_others)                                                                \
	X(start_no_shmem)                                                                          \
	X(start_snapshot)                                                                          \
	X(start_snapshot_several)                                                                  \
	X(start_snapshot_base)                                                                     \
	X(start_snapshot_already)                                                                  \
	X(start_snapshot_fw)                                                                       \
	X(start_snapshot_cut)                                                                      \
	X(start_snapshot_empty)                                                                    \
	X(stop_ok)                                                                                 \
	X(stop_several)                                                                            \
	X(stop_reset)                                                                              \
	X(stop_keeps_of)                                                                           \
	X(stop_empty_set)                                                                          \
	X(stop_invalid_flags)                                                                      \
	X(stop_invalid_set)                                                                        \
	X(stop_already)                                                                            \
	X(stop_already_and_others)                                                                 \
	X(stop_unconfigured_reset)                                                                 \
	X(stop_no_shmem)                                                                           \
	X(stop_snapshot)                                                                           \
	X(stop_snapshot_several)                                                                   \
	X(stop_snapshot_base)                                                                      \
	X(stop_snapshot_base_beyond)                                                               \
	X(stop_snapshot_all)                                                                       \
	X(stop_snapshot_reset)                                                                     \
	X(stop_snapshot_already)                                                                   \
	X(stop_snapshot_unconfigured)                                                              \
	X(stop_snapshot_fw)                                                                        \
	X(stop_snapshot_of)                                                                        \
	X(stop_snapshot_of_other)                                                                  \
	X(stop_snapshot_of_reset)                                                                  \
	X(stop_snapshot_empty)                                                                     \
	X(stop_snapshot_lost)                                                                      \
	X(shmem_set)                                                                               \
	X(shmem_set_again)                                                                         \
	X(shmem_last_page)                                                                         \
	X(shmem_disabled)                                                                          \
	X(shmem_not_offered)                                                                       \
	X(shmem_invalid_flags)                                                                     \
	X(shmem_invalid_flags_disable)                                                             \
	X(shmem_misaligned)                                                                        \
	X(shmem_invalid_hi)                                                                        \
	X(shmem_not_ram)                                                                           \
	X(shmem_fails_keeps)                                                                       \
	X(info_one_slice)                                                                          \
	X(info_slices)                                                                             \
	X(info_last_of_many)                                                                       \
	X(info_empty)                                                                              \
	X(info_invalid_flags)                                                                      \
	X(info_misaligned)                                                                         \
	X(info_invalid_hi)                                                                         \
	X(info_not_ram)                                                                            \
	X(info_overflows)                                                                          \
	X(info_reserved_bits)                                                                      \
	X(info_reserved_bits_later)                                                                \
	X(info_dropped)                                                                            \
	X(info_begun_anew)                                                                         \
	X(info_over_others)                                                                        \
	X(info_yes_hw)                                                                             \
	X(info_yes_cache)                                                                          \
	X(info_yes_raw)                                                                            \
	X(info_yes_fw)                                                                             \
	X(info_no)                                                                                 \
	X(info_not_allowed)                                                                        \
	X(wrap_near)                                                                               \
	X(wrap_far)                                                                                \
	X(wrap_shared)                                                                             \
	X(wrap_together)                                                                           \
	X(wrap_loose)                                                                              \
	X(retired)                                                                                 \
	X(retired_wraps)                                                                           \
	X(retired_shared)                                                                          \
	X(retired_unseen)                                                                          \
	X(loose_value)                                                                             \
	X(fault_config)                                                                            \
	X(fault_config_others_lost)                                                                \
	X(fault_start)                                                                             \
	X(fault_lost)                                                                              \
	X(fault_start_again)                                                                       \
	X(fault_late)                                                                              \
	X(fault_late_keeps_none)                                                                   \
	X(fault_late_start_again)                                                                  \
	X(fault_late_config_again)

enum model_seen {
#define X(name) SEEN_##name,
	MODEL_SEEN(X)
#undef X
	    SEEN_COUNT,
};

extern uint64_t model_seen[SEEN_COUNT];

#define seen(name) (model_seen[SEEN_##name]++)

#endif
