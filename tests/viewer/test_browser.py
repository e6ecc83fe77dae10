"""Tests of the page in a browser: user actions and the resulting content of the screen."""

import csv
import io
import json
import shutil

import numpy as np
import pytest
from PIL import Image

from bagwise.bags.bags import Bags
from bagwise.bags.folder import save_bags
from bagwise.explain.bag_files import make_instance_rows
from bagwise.explain.heatmaps.scales import apply_colours, apply_scale, apply_signed_scale, choose_colour_map
from bagwise.runs.execution import execute_run
from bagwise.runs.open_run import OpenedBags
from bagwise.viewer.session import Session, open_runs
from image_runs import COLUMNS, ODD_NAMES, ROWS, SIZE
from viewer.serving import served

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(BROWSER is None, reason="chromium is not installed")


SCATTERED_SIDE = 300  # side of tiles that are not on a grid, in level-0 pixels


@pytest.fixture(scope="module")
def scattered_run(tmp_path_factory):
    """A run on features of tiles that are not on a grid, without pictures."""
    folder, rng = tmp_path_factory.mktemp("scattered"), np.random.default_rng(0)
    cells = np.stack(np.meshgrid(np.arange(8), np.arange(5)), axis=-1).reshape(-1, 2)
    bags = Bags.from_list(
        [rng.normal(label, 1, (len(cells), 4)) for label in (0, 1) * 6],
        labels=["no", "yes"] * 6,
        names=[f"slide-{number}" for number in range(12)],
        positions=np.concatenate([cells * 1000 + rng.integers(0, 400, cells.shape) for _ in range(12)]),
        tile_sizes=[SCATTERED_SIDE] * 12,
    )
    save_bags(bags, folder / "bags")
    data = {"data": str(folder / "bags"), "options": {}, "test": 0.5, "split_seed": 1}
    return execute_run(
        folder / "run", {"data": data, "parameters": {"epochs": 2, "random_state": 1, "engine": "torch"}}
    )


@pytest.fixture(scope="module")
def session(image_runs, digits_run, scattered_run, tmp_path_factory):
    other_seed = {**digits_run.parameters["parameters"], "random_state": 2}
    again = execute_run(
        tmp_path_factory.mktemp("again") / "run", {"data": digits_run.parameters["data"], "parameters": other_seed}
    )
    runs = {"digits": digits_run, "scattered": scattered_run, "moved": scattered_run, "digits again": again}
    session = Session({**open_runs(image_runs), **runs})
    vars(session.get_run(4, 0).open_run)["_opened"] = OpenedBags(None, "the slides were moved")
    return session


@pytest.fixture(scope="module")
def context(session):
    with served(session) as address, playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        context = browser.new_context(
            base_url=address, viewport={"width": 1280, "height": 800}, reduced_motion="reduce", accept_downloads=True
        )
        context.set_default_timeout(240_000)
        yield context
        context.close()
        browser.close()


def _is_error(message):
    """Return whether a message is an error; OpenSeadragon's message about a tile of a closed bag is ignored."""
    return message.type in ("error", "warning") and not message.text.startswith("Ignoring tile")


@pytest.fixture
def page(context):
    """A page that fails the test on any error, warning or dialog."""
    page, errors = context.new_page(), []
    page.on("console", lambda message: _is_error(message) and errors.append(message.text))
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("dialog", lambda dialog: errors.append(f"a name ran as code: {dialog.message}"))
    yield page
    page.close()
    assert errors == []


def visit(page, **parameters):
    from urllib.parse import urlencode

    page.goto("about:blank")  # changing only the part after # would not reload the page
    page.goto(f"/#{urlencode(parameters)}")
    page.wait_for_selector("#views[data-drawn]")
    return page


def wait_until_drawn(page, *values):
    """Wait until the view shows these values (run, bag, layer, class or scale)."""
    condition = """values => {
        const drawn = JSON.parse(document.querySelector('#views').dataset.drawn);
        return values.every(value => drawn.includes(value));
    }"""
    page.wait_for_function(condition, arg=[*values])


def list_names(page):
    return page.eval_on_selector_all("#bags tbody tr", "rows => rows.map(row => row.dataset.bag)")


def make_screen_mapping(page, pane=0, extent=(COLUMNS * SIZE, ROWS * SIZE), within=SIZE / 2):
    """Return a map from tile positions to the screen, offset by ``within``, for a pane that shows all of ``extent``."""
    box = page.locator(".pane").nth(pane).evaluate("pane => [pane.clientWidth, pane.clientHeight]")
    scale = min(box[0] / extent[0], box[1] / extent[1])
    left, top = (box[0] - extent[0] * scale) / 2, (box[1] - extent[1] * scale) / 2
    return lambda position: (left + (position[0] + within) * scale, top + (position[1] + within) * scale)


def read_overlay(page, positions, pane=0, **tiles):
    """Return red, green, blue and alpha of the overlay at each tile, by default at its centre."""
    place = make_screen_mapping(page, pane, **tiles)
    read = """([points, pane]) => {
        const canvas = document.querySelectorAll('.pane')[pane].querySelector('canvas.overlay');
        const ratio = canvas.width / canvas.clientWidth;
        const { data, width } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
        return points.map(([x, y]) => {
            const start = 4 * (Math.floor(y * ratio) * width + Math.floor(x * ratio));
            return [...data.slice(start, start + 4)];
        });
    }"""
    return np.array(page.evaluate(read, [[place(position) for position in positions], pane]))


def test_list_shows_every_bag_with_its_probability_to_the_last_digit(page, session):
    visit(page)
    bags = session.bags(0)
    assert list_names(page) == [bag["name"] for bag in bags]
    assert page.locator("#bag-name").inner_text() == bags[0]["name"]
    assert page.locator("#bag-output").inner_text() == bags[0]["outputs"][1]
    titles = page.eval_on_selector_all("#bags tbody tr", "rows => rows.map(row => row.cells[2].title)")
    assert titles == [bag["outputs"][1] for bag in bags]


def test_names_are_shown_as_text_and_never_as_markup(page, session):
    visit(page)
    for number, bag in enumerate(session.bags(0)):
        page.locator("#bags tbody tr").nth(number).click()
        wait_until_drawn(page, bag["name"])
        assert page.locator("#bag-name").inner_text().split() == bag["name"].split()
    assert any(odd in bag["name"] for odd in ODD_NAMES for bag in session.bags(0))
    assert page.locator("#bags img, #bag-name img").count() == 0


def test_list_is_sorted_by_clicks_on_a_column_title(page, session):
    visit(page)
    expected = [bag["name"] for bag in sorted(session.bags(0), key=lambda bag: float(bag["outputs"][1]))]
    page.click("[data-sort=output]")
    assert list_names(page) == expected
    assert page.locator("th:has([data-sort=output])").get_attribute("aria-sort") == "ascending"
    page.click("[data-sort=output]")
    assert list_names(page) == expected[::-1]


def test_list_is_filtered_by_text_and_outcome(page, session):
    visit(page)
    page.fill("#search", "DARK/ =cmd")
    assert list_names(page) == [
        bag["name"] for bag in session.bags(0) if "=cmd" in bag["name"] and "dark" in bag["name"]
    ]
    page.fill("#search", "")
    page.select_option("#outcome", "incorrect")
    assert list_names(page) == [bag["name"] for bag in session.bags(0) if not bag["correct"]]


@pytest.mark.parametrize(
    ("layer", "scale"),
    [
        pytest.param("weight", "raw", marks=pytest.mark.full),
        ("weight", "log"),
        ("contribution", "rank"),
        pytest.param("probability", "paper", marks=pytest.mark.full),
    ],
)
def test_map_has_the_colours_of_the_library_at_the_tiles(page, session, layer, scale):
    bag = session.bags(0)[2]
    visit(page, bag=bag["name"], layer=layer, scale=scale, opacity=1)
    viewed = session.get_run(0, 2)
    positions, values = viewed.open_run.bag(2).positions, viewed.layers.values(layer, 2, 1)
    signed = layer == "contribution"
    scaled = (apply_signed_scale if signed else apply_scale)(values, scale)
    found = read_overlay(page, positions)
    assert (found[:, 3] == 255).all()
    np.testing.assert_allclose(
        found[:, :3], apply_colours(scaled.values, choose_colour_map(signed)), atol=4
    )  # colours are rounded to 257 steps, values to float32
    caption = page.locator("#legend figcaption").inner_text()
    assert scaled.caption in caption
    assert signed == ("Contribution to class light" in caption)


def test_map_shows_contributions_to_the_selected_class(page, session):
    visit(page, layer="contribution", opacity=1)
    page.select_option("#output", "dark")
    wait_until_drawn(page, "dark")
    assert "Contribution to class dark" in page.locator("#legend figcaption").inner_text()
    viewed = session.get_run(0, 0)
    scaled = apply_signed_scale(viewed.layers.values("contribution", 0, 0), "raw")
    found = read_overlay(page, viewed.open_run.bag(0).positions)
    np.testing.assert_allclose(found[:, :3], apply_colours(scaled.values, choose_colour_map(True)), atol=4)


def test_slow_computation_shows_a_message_and_keeps_the_toolbar_usable(page):
    visit(page)
    held_requests = []
    page.route("**/layers/contribution/**", lambda route: held_requests.append(route))
    page.locator("label[for=layer-contribution]").click()
    page.wait_for_selector("#busy:not([hidden])")
    assert "Computing: Contribution to class" in page.locator("#busy").inner_text()
    assert page.locator("#output-field").is_visible()
    page.select_option("#scale", "rank")
    while held_requests:
        held_requests.pop().continue_()
    page.unroute("**/layers/contribution/**")
    wait_until_drawn(page, "contribution", "rank")
    page.wait_for_selector("#busy", state="hidden")  # after the first, obsolete request has finished


def test_range_hides_tiles(page, session):
    visit(page, scale="rank", opacity=1)
    layers = session.get_run(0, 0).layers
    ranks = apply_scale(layers.weights(0), "rank").values
    page.locator("#from").fill("0.5")
    page.wait_for_function(
        f"() => document.querySelector('#visible-count').textContent.startsWith('{int((ranks >= 0.5).sum())} of')"
    )
    found = read_overlay(page, session.get_run(0, 0).open_run.bag(0).positions)
    np.testing.assert_array_equal(found[:, 3] > 0, ranks >= 0.5)


@pytest.mark.parametrize(
    "share", [pytest.param(0.06, marks=pytest.mark.full), 0.5, pytest.param(0.94, marks=pytest.mark.full)]
)
def test_map_of_tiles_off_a_grid_is_exact_to_their_edges(page, session, share):
    visit(page, run="scattered", opacity=1)
    viewed = session.get_run(3, 0)
    positions = viewed.open_run.bag(0).positions
    extent, within = positions.max(axis=0) + SCATTERED_SIDE, share * SCATTERED_SIDE
    outside = positions - within - 0.06 * SCATTERED_SIDE  # just before the upper left corner
    found = read_overlay(page, np.concatenate([positions, outside]), extent=extent, within=within)
    colours = apply_colours(apply_scale(viewed.layers.weights(0), "raw").values, choose_colour_map(False))
    inside, beyond = np.split(found, 2)
    np.testing.assert_allclose(inside, np.column_stack([colours, np.full(len(colours), 255)]), atol=4)
    assert (beyond[:, 3] == 0).all()


def test_click_on_a_tile_shows_its_values(page, session):
    visit(page)
    positions = session.get_run(0, 0).open_run.bag(0).positions
    x, y = make_screen_mapping(page)(positions[9])
    page.locator(".pane").click(position={"x": x, "y": y})
    details = session.instance(0, 0, 9)
    page.wait_for_selector(f"#instance dd:text-is('{details['weight']}')")
    panel = page.locator("#instance").inner_text()
    assert "Instance 9" in panel
    assert f"{details['rank']} of {len(positions)}" in panel
    assert page.locator(f"#instance dd[title='{details['contributions'][1]}']").count() >= 1
    assert "instance 9, Weight" in page.locator("#live").inner_text()


def test_shortcuts_step_through_bags_instances_layers_and_scales(page, session):
    visit(page)
    bags, weights = session.bags(0), session.get_run(0, 1).layers.weights(1)
    page.keyboard.press("j")
    wait_until_drawn(page, bags[1]["name"])
    order = np.argsort(-weights, kind="stable")
    for instance in order[:3]:
        page.keyboard.press("n")
        page.wait_for_selector(f"#instance-title:has-text('Instance {instance} ')")
    page.keyboard.press("p")
    page.wait_for_selector(f"#instance-title:has-text('Instance {order[1]} ')")
    page.keyboard.press("2")
    wait_until_drawn(page, "contribution")
    page.keyboard.press("s")
    wait_until_drawn(page, "rank")
    page.keyboard.press("?")
    assert page.locator("#help").is_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("k")
    wait_until_drawn(page, bags[0]["name"])


def test_link_opens_the_same_view(page, session):
    visit(page, run="instances", bag=session.bags(1)[3]["name"])
    page.keyboard.press("2")
    wait_until_drawn(page, "contribution")
    page.select_option("#scale", "log")
    wait_until_drawn(page, "log")
    before = page.locator("#views").get_attribute("data-drawn")
    address = page.url
    page.goto("about:blank")
    page.goto(address)
    page.wait_for_selector("#views[data-drawn]")
    assert page.locator("#views").get_attribute("data-drawn") == before
    page.keyboard.press("j")
    wait_until_drawn(page, session.bags(1)[4]["name"])
    page.go_back()
    wait_until_drawn(page, session.bags(1)[3]["name"])


def test_link_in_an_open_page_and_skip_link_keep_the_view(page):
    name = list_names(visit(page))[2]
    visit(page, bag=name)
    page.evaluate("name => location.hash = new URLSearchParams({ bag: name, layer: 'contribution' })", name)
    wait_until_drawn(page, name, "contribution")
    page.locator(".skip").focus()
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "stage"
    wait_until_drawn(page, name, "contribution")


def test_view_recovers_from_a_failed_request(page):
    visit(page, layer="nonsense", scale="nonsense")
    wait_until_drawn(page, "weight", "raw")
    page.goto("about:blank")
    page.route("**/layers/contribution/**", lambda route: route.fulfill(status=200, body=""))  # empty response
    page.goto("/#layer=contribution")
    page.wait_for_selector("#error:not([hidden])")
    page.keyboard.press("n")
    page.locator("label[for=layer-weight]").click()
    page.wait_for_selector("#views[data-drawn]")
    wait_until_drawn(page, "weight")
    assert page.locator("#error").is_hidden()


def test_panes_stay_at_the_same_position(page, session):
    visit(page, beside="/picture")
    positions = session.get_run(0, 0).open_run.bag(0).positions
    assert page.locator(".pane-title").all_inner_texts() == ["Image", "Map"]
    assert (read_overlay(page, positions, pane=0)[:, 3] == 0).all()
    assert (read_overlay(page, positions, pane=1)[:, 3] > 0).all()
    corner = {"x": 30, "y": make_screen_mapping(page)(positions[0])[1]}

    def select_at_corner(pane):
        page.evaluate("location.hash = location.hash.replace(/&?instance=[0-9]+/, '')")
        page.wait_for_function("() => document.querySelector('#instance-title').textContent.startsWith('No instance')")
        page.locator(".pane").nth(pane).click(position=corner)
        page.wait_for_function("() => document.querySelector('#instance-title').textContent.startsWith('Instance')")
        page.wait_for_timeout(350)  # otherwise the next click would be a double click
        return page.locator("#instance-title").inner_text()

    before = select_at_corner(0)
    assert select_at_corner(1) == before
    after = before
    while after == before:  # zoom in until another tile is in the corner
        page.locator(".pane").nth(0).hover(position={"x": 300, "y": 300})
        page.mouse.wheel(0, -400)
        after = select_at_corner(0)
    assert select_at_corner(1) == after


def test_compared_runs_show_their_own_values(page, session):
    visit(page, beside="instances", layer="contribution", opacity=1)
    positions = session.get_run(0, 0).open_run.bag(0).positions
    for pane, run in enumerate((0, 1)):
        scaled = apply_signed_scale(session.get_run(run, 0).layers.values("contribution", 0, 1), "raw")
        found = read_overlay(page, positions, pane)
        np.testing.assert_allclose(found[:, :3], apply_colours(scaled.values, choose_colour_map(True)), atol=4)
    titles = page.locator(".pane-title").all_inner_texts()
    assert titles[0].startswith("attention: ")
    assert titles[1].startswith("instances: ")


def test_downloads_have_the_values_of_the_library(page, session):
    visit(page, bag=session.bags(0)[1]["name"], opacity=1)
    viewed = session.get_run(0, 1)
    rows = list(csv.DictReader(io.StringIO(download_bytes(page, "#export-csv").decode(), newline="")))
    expected = make_instance_rows(viewed.open_run, viewed.layers, 1)
    assert rows == [{title: str(value) for title, value in row.items()} for row in expected]
    features = json.loads(download_bytes(page, "#export-geojson"))["features"]
    found = [feature["properties"]["measurements"]["weight"] for feature in features]
    assert found == viewed.layers.weights(1).astype(float).tolist()
    picture = np.asarray(Image.open(io.BytesIO(download_bytes(page, "#export-png"))).convert("RGB"))
    positions, place = viewed.open_run.bag(1).positions, make_screen_mapping(page)
    colours = apply_colours(apply_scale(viewed.layers.weights(1), "raw").values, choose_colour_map(False))
    for position, colour in zip(positions, colours, strict=True):
        x, y = place(position)
        np.testing.assert_allclose(picture[int(y), int(x)], colour, atol=4)


def download_bytes(page, button):
    with page.expect_download() as download:
        page.click(button)
    return download.value.path().read_bytes()


def test_grid_shows_digits_by_weight_with_key_instances_framed(page, session):
    visit(page, run="digits")
    viewed = session.get_run(2, 0)
    order = np.argsort(-viewed.layers.weights(0), kind="stable").tolist()
    cards = page.locator("#views [data-instance]")
    assert [int(card.get_attribute("data-instance")) for card in cards.all()] == order
    framed = [int(card.get_attribute("data-instance")) for card in page.locator("#views .key").all()]
    assert sorted(framed) == np.flatnonzero(viewed.open_run.bag(0).instance_labels > 0).tolist()
    page.uncheck("#frames")
    page.wait_for_function("() => document.querySelectorAll('#views .key').length === 0")
    cards.nth(1).click()
    page.wait_for_selector(f"#instance dd:text-is('{session.instance(2, 0, order[1])['weight']}')")
    assert page.locator("#strip").is_hidden()
    assert page.locator("#export-geojson").is_hidden()
    assert Image.open(io.BytesIO(download_bytes(page, "#export-png"))).width >= 480


def test_grid_and_png_show_the_compared_run(page):
    visit(page, run="digits")
    single = Image.open(io.BytesIO(download_bytes(page, "#export-png")))
    visit(page, run="digits", beside="digits again")
    cards = page.locator("#views [data-instance]")
    assert cards.locator(".compared").count() == cards.count() > 0
    compared = Image.open(io.BytesIO(download_bytes(page, "#export-png")))
    assert compared.width == single.width
    assert compared.height > single.height


def test_notes_report_the_spread_of_weights_over_seeds(page, session):
    visit(page, run="digits")
    weights = [session.get_run(run, 0).layers.weights(0) for run in (2, 5)]
    spread = 100 * np.std(weights, axis=0, dtype=np.float64).sum()
    note = f"Over 2 seeds, the standard deviations of the weights sum to {spread:.3g} %."
    assert note in page.locator("#notes").inner_text()
    page.locator("#views [data-instance]").first.click()
    page.wait_for_selector("#instance dt:text-is('Weight over 2 seeds')")


def test_run_without_data_shows_its_weights_and_the_reason(page, session):
    visit(page, run="moved", layer="contribution")
    weights = session.get_run(4, 0).layers.weights(0)
    order = np.argsort(-weights, kind="stable").tolist()
    assert [int(card.get_attribute("data-instance")) for card in page.locator("#views [data-instance]").all()] == order
    assert "the slides were moved" in page.locator("#notes").inner_text()
    assert page.locator("#layer-contribution").is_disabled()
    assert page.locator("#error").is_hidden()
    page.locator("#views [data-instance]").first.click()
    assert "The data of this run are not available" in page.locator("#instance").inner_text()


def test_theme_can_be_switched(page):
    visit(page)
    background = "getComputedStyle(document.body).backgroundColor"
    before = page.evaluate(background)
    page.click("#theme")
    assert page.evaluate(background) != before
    page.click("#theme")
    assert page.evaluate(background) == before


def test_page_fits_the_screen(page):
    for width, height in ((1280, 720), (2560, 1440)):
        page.set_viewport_size({"width": width, "height": height})
        visit(page, beside="/picture")
        assert page.evaluate("document.documentElement.scrollWidth") == width
        assert page.evaluate("document.documentElement.scrollHeight") == height
        assert page.locator(".pane").first.bounding_box()["height"] > height / 3


def test_controls_have_names_and_are_reachable_by_keyboard(page):
    visit(page)
    nameless = page.evaluate(
        """() => [...document.querySelectorAll('button, select, input, a, [role]')].filter(each =>
            !each.closest('[hidden]') && !(each.innerText || '').trim() && !each.getAttribute('aria-label')
            && !each.getAttribute('aria-labelledby') && !(each.labels?.length && each.labels[0].textContent.trim())
            && !['status', 'alert'].includes(each.getAttribute('role'))).map(each => each.outerHTML.slice(0, 120))"""
    )
    assert nameless == []
    reached = set()
    for _ in range(60):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.id || document.activeElement.className"))
    assert {"search", "outcome", "scale", "opacity", "export-png", "openseadragon-canvas"} <= reached
