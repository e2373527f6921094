# SPDX-License-Identifier: Apache-2.0
"""What tools/run is made of.

The machine: qemu, files, standstill, monitor. What it prints: flow (and firmware, and
tallylib/frames) says whose each byte is; console makes lines of it (ansi, line), terminal shows
them to a person while they grow (full_screen, colours, screen). What is typed: keys, prompt,
editing, top. Who asks: console_relay, programs, console_client. What stays: record, logs, verdict.
"""
