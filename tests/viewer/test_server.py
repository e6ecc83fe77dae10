import socket

import pytest

from bagwise.errors import InputError
from bagwise.viewer import server
from bagwise.viewer.server import bind_port, check_viewer_packages, get_address


def test_bind_port_0_uses_a_free_port_of_this_machine_only():
    with bind_port(0) as first, bind_port(0) as second:
        assert first.getsockname()[0] == second.getsockname()[0] == "127.0.0.1"
        assert first.getsockname()[1] != second.getsockname()[1]
        assert get_address(first) == f"http://127.0.0.1:{first.getsockname()[1]}/"


def test_bind_port_rejects_a_used_port_by_number():
    with bind_port(0) as used:
        port = used.getsockname()[1]
        with pytest.raises(InputError, match=rf"port {port} cannot be used .*omit --port"):
            bind_port(port)


@pytest.mark.parametrize("port", [-1, 65536])
def test_bind_port_rejects_an_invalid_port_by_number(port):
    with pytest.raises(InputError, match=f"port {port} cannot be used"):
        bind_port(port)


def test_check_viewer_packages_names_the_command_that_installs_them(monkeypatch):
    monkeypatch.setattr(server, "find_spec", lambda package: None)
    with pytest.raises(InputError, match=r"pip install 'bagwise\[viewer\]'"):
        check_viewer_packages()


def test_run_server_opens_the_browser_only_if_requested(monkeypatch):
    opened, preloaded = [], []
    monkeypatch.setattr(server.webbrowser, "open", lambda address: opened.append(address) or True)
    monkeypatch.setattr(server.threading, "Thread", ImmediateThread)
    monkeypatch.setattr(server, "make_server", lambda app: InterruptedServer())
    for open_browser in (False, True):
        with bind_port(0) as listener:
            server.run_server(print, listener, open_browser, lambda: preloaded.append(True))
            address = get_address(listener)
    assert opened == [address]
    assert preloaded == [True, True]


def test_run_server_warns_with_the_address_if_there_is_no_browser(monkeypatch, capsys):
    monkeypatch.setattr(server.webbrowser, "open", lambda address: False)
    monkeypatch.setattr(server.threading, "Thread", ImmediateThread)
    monkeypatch.setattr(server, "make_server", lambda app: InterruptedServer())
    with bind_port(0) as listener, pytest.warns(UserWarning, match="no browser was found; open http") as warned:
        server.run_server(print, listener, True, lambda: print(get_address(listener)))
    assert f"open {capsys.readouterr().out.strip()} yourself" in str(warned[0].message)


class ImmediateThread:
    """A thread that runs its target in the call of ``start``."""

    def __init__(self, target, args=(), daemon=False):
        self.start = lambda: target(*args)


class InterruptedServer:
    def run(self, sockets):
        assert isinstance(sockets[0], socket.socket)
        raise KeyboardInterrupt
