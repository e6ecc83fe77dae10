import socket

import pytest

from bagwise.errors import InputError
from bagwise.viewer import server
from bagwise.viewer.server import address_of, check_packages, take_port


def test_a_free_port_of_this_machine_alone_is_taken():
    with take_port(0) as one, take_port(0) as two:
        assert one.getsockname()[0] == two.getsockname()[0] == "127.0.0.1"
        assert one.getsockname()[1] != two.getsockname()[1]
        assert address_of(one) == f"http://127.0.0.1:{one.getsockname()[1]}/"


def test_a_port_that_is_taken_is_refused_with_the_fix():
    with take_port(0) as taken, pytest.raises(InputError, match=r"cannot be used .*leave --port out"):
        take_port(taken.getsockname()[1])


@pytest.mark.parametrize("port", [-1, 65536])
def test_a_port_that_does_not_exist_is_refused(port):
    with pytest.raises(InputError, match="cannot be used"):
        take_port(port)


def test_without_its_packages_the_viewer_says_how_to_get_them(monkeypatch):
    monkeypatch.setattr(server, "find_spec", lambda package: None)
    with pytest.raises(InputError, match=r"pip install 'bagwise\[viewer\]'"):
        check_packages()


def test_the_browser_opens_at_the_address_only_if_wanted(monkeypatch):
    opened, warmed = [], []
    monkeypatch.setattr(server.webbrowser, "open", lambda address: opened.append(address) or True)
    monkeypatch.setattr(server.threading, "Thread", Now)
    monkeypatch.setattr(server, "make_server", lambda app: Interrupted())
    for wanted in (False, True):
        with take_port(0) as listening:
            server.serve(print, listening, wanted, lambda: warmed.append(True))
            address = address_of(listening)
    assert opened == [address]
    assert warmed == [True, True]


def test_where_there_is_no_browser_the_address_is_said(monkeypatch, capsys):
    monkeypatch.setattr(server.webbrowser, "open", lambda address: False)
    monkeypatch.setattr(server.threading, "Thread", Now)
    monkeypatch.setattr(server, "make_server", lambda app: Interrupted())
    with take_port(0) as listening, pytest.warns(UserWarning, match="no browser was found; open http") as warned:
        server.serve(print, listening, True, lambda: print(address_of(listening)))
    assert f"open {capsys.readouterr().out.strip()} in one yourself" in str(warned[0].message)


class Now:
    """A thread that is done when it starts."""

    def __init__(self, target, args=(), daemon=False):
        self.start = lambda: target(*args)


class Interrupted:
    def run(self, sockets):
        assert isinstance(sockets[0], socket.socket)
        raise KeyboardInterrupt
