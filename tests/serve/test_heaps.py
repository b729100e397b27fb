"""Threads of a service share few heaps, so that what one leaves free is of use to others."""

import ctypes
import subprocess
import sys

import pytest

#: Many threads that ask for memory at the same time, and how many heaps the system made for them.
THREADS = """
import ctypes, sys, threading
from diskret.serve.run import keep_few_heaps
if sys.argv[2] == "few":
    keep_few_heaps()
libc = ctypes.CDLL(None)
libc.malloc.restype = libc.fopen.restype = ctypes.c_void_p
all_there = threading.Barrier(12)
def work():
    libc.malloc(1000)
    all_there.wait()
threads = [threading.Thread(target=work) for _ in range(12)]
[one.start() for one in threads]
[one.join() for one in threads]
file = ctypes.c_void_p(libc.fopen(sys.argv[1].encode(), b"w"))
libc.malloc_info(0, file)
libc.fclose(file)
"""


@pytest.mark.long
@pytest.mark.skipif(
    sys.platform != "linux" or not hasattr(ctypes.CDLL(None), "malloc_info"),
    reason="optional: needs the C library of GNU",
)
def test_many_threads_have_two_heaps(tmp_path):
    heaps = {}
    for how in ("few", "many"):
        path = tmp_path / how
        subprocess.run([sys.executable, "-c", THREADS, path, how], check=True)
        heaps[how] = path.read_text().count("<heap nr=")
    assert heaps["few"] <= 2 < heaps["many"]
