"""Requests as strangers send them, byte by byte."""

import socket
from urllib.parse import urlsplit

import pytest

from bagwise.viewer.safety import is_own_page, is_this_machine


def ask(address, path="/api/runs", method="GET", version="1.1", **headers):
    """Status and head of the answer to a request that no client library has tidied up."""
    port = urlsplit(address).port
    lines = {"Host": f"127.0.0.1:{port}", "Connection": "close"} | headers
    text = "".join(f"{name}: {value}\r\n" for name, value in lines.items() if value is not None)
    with socket.create_connection(("127.0.0.1", port), timeout=20) as stream:
        stream.sendall(f"{method} {path} HTTP/{version}\r\n{text}\r\n".encode("latin-1"))
        answer = b""
        while piece := stream.recv(65536):
            answer += piece
    head, _, body = answer.partition(b"\r\n\r\n")
    return int(head.split()[1]), head.decode("latin-1").lower(), body


def test_this_machine_is_answered(address):
    port = urlsplit(address).port
    assert ask(address)[0] == 200
    assert ask(address, Host=f"localhost:{port}")[0] == 200
    assert ask(address, Host="localhost:9999")[0] == 200  # through a tunnel
    assert ask(address, Origin=f"http://127.0.0.1:{port}")[0] == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:80",
        "127.0.0.1.evil.example",
        "localhost@evil.example",
        "localhost.",
        "127.1",
        "",
        None,
    ],
)
def test_a_foreign_host_is_refused(address, host):
    status, _, body = ask(address, Host=host, version="1.0" if host is None else "1.1")
    assert status in (400, 403)
    assert b"attention" not in body


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://127.0.0.1:1", "https://localhost", "file://"]
)
def test_a_foreign_origin_is_refused(address, origin):
    status, _, body = ask(address, Origin=origin)
    assert status == 403
    assert b"attention" not in body


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT"])
def test_nothing_can_be_changed(address, method):
    assert ask(address, method=method)[0] in (400, 405)


@pytest.mark.parametrize(
    "path",
    [
        "/static/../routes.py",
        "/static/%2e%2e/routes.py",
        "/static/..%2froutes.py",
        "/static/%2e%2e%2f%2e%2e%2f%2e%2e%2fpyproject.toml",
        "/static//etc/passwd",
        "/static/%00",
        "/static/index.html%00.js",
        "/../../etc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/static/..\\routes.py",
        "/static/%c0%ae%c0%ae/routes.py",
        "/api/runs/../../static/../routes.py",
        "/api/runs/0/bags/..%2f..%2f0",
        "/api/runs/0/bags/0/tiles/7/0/..%2f0",
        "//evil.example/",
    ],
)
def test_no_path_leads_out(address, path):
    status, _, body = ask(address, path)
    assert status in (400, 404, 405)
    assert b"import" not in body
    assert b"root:" not in body


def test_a_link_in_the_static_folder_is_not_followed_out(client, tmp_path):
    from starlette.staticfiles import StaticFiles

    (tmp_path / "static").mkdir()
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "static" / "link").symlink_to(tmp_path / "secret")
    assert StaticFiles(directory=tmp_path / "static").lookup_path("link")[1] is None


@pytest.mark.parametrize("path", ["/", "/static/app.js", "/api/runs", "/nowhere", "/api/runs/0/bags/0/export/csv"])
def test_every_answer_is_protected(address, path):
    head = ask(address, path)[1]
    assert "content-security-policy: default-src 'self'; " in head
    assert "unsafe-inline" not in head
    assert "unsafe-eval" not in head
    assert "frame-ancestors 'none'" in head
    assert "x-content-type-options: nosniff" in head
    assert "cross-origin-resource-policy: same-origin" in head
    assert "referrer-policy: no-referrer" in head
    assert "access-control-allow-origin" not in head
    assert "\r\nserver:" not in head


def test_refusals_are_protected_too(address):
    for answer in (ask(address, Host="evil.example"), ask(address, method="POST")):
        assert "content-security-policy" in answer[1]


def test_the_page_has_no_script_or_style_of_its_own(client):
    page = client.get("/").text
    assert "<style" not in page
    assert " style=" not in page
    assert " onclick=" not in page
    assert page.count("<script") == page.count('<script src="/static/')
    assert "//" not in page.replace("<!doctype", "")


def test_names_are_taken_whole():
    assert not is_this_machine("localhost/evil.example")
    assert not is_this_machine("localhost#@evil.example")
    assert not is_this_machine("[::1")
    assert not is_this_machine("localhost:port:80")
    assert is_this_machine("LOCALHOST:80")
    assert not is_own_page("http://localhost:80.evil.example", "localhost:80")
