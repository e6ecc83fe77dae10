"""The page in a real browser: what a person does, and what the screen then shows."""

import csv
import io
import json
import shutil

import numpy as np
import pytest
from PIL import Image

from bagwise.bags import Bags
from bagwise.explain.heatmaps.colours import coloured, colouring
from bagwise.explain.heatmaps.scales import to_scale, to_signed_scale
from bagwise.runs import execute
from bagwise.showing.instances import instance_rows
from bagwise.showing.shown_run import Opened
from bagwise.storage import save_bags
from bagwise.viewer.opening import open_runs
from bagwise.viewer.session import Session
from image_runs import COLUMNS, ODD_NAMES, ROWS, SIZE
from viewer.serving import served

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(BROWSER is None, reason="there is no chromium to drive")


SCATTERED = 300  # side of tiles that lie on no grid, in pixels of a slide


@pytest.fixture(scope="module")
def scattered_run(tmp_path_factory):
    """Features with positions that share no step, and no picture."""
    folder, draws = tmp_path_factory.mktemp("scattered"), np.random.default_rng(0)
    cells = np.stack(np.meshgrid(np.arange(8), np.arange(5)), axis=-1).reshape(-1, 2)
    bags = Bags.from_list(
        [draws.normal(label, 1, (len(cells), 4)) for label in (0, 1) * 6],
        labels=["no", "yes"] * 6,
        names=[f"slide-{number}" for number in range(12)],
        positions=np.concatenate([cells * 1000 + draws.integers(0, 400, cells.shape) for _ in range(12)]),
        tile_sizes=[SCATTERED] * 12,
    )
    save_bags(bags, folder / "bags")
    data = {"data": str(folder / "bags"), "options": {}, "test": 0.5, "split_seed": 1}
    return execute(folder / "run", {"data": data, "parameters": {"epochs": 2, "random_state": 1, "engine": "torch"}})


@pytest.fixture(scope="module")
def shown(image_runs, digits_run, scattered_run, tmp_path_factory):
    other_seed = {**digits_run.parameters["parameters"], "random_state": 2}
    again = execute(
        tmp_path_factory.mktemp("again") / "run", {"data": digits_run.parameters["data"], "parameters": other_seed}
    )
    runs = {"digits": digits_run, "scattered": scattered_run, "moved": scattered_run, "digits again": again}
    session = Session({**open_runs(image_runs), **runs})
    vars(session.show(4, 0).shown)["_opened"] = Opened(None, "the slides were moved")
    return session


@pytest.fixture(scope="module")
def context(shown):
    with served(shown) as address, playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        context = browser.new_context(
            base_url=address, viewport={"width": 1280, "height": 800}, reduced_motion="reduce", accept_downloads=True
        )
        context.set_default_timeout(20_000)
        yield context
        context.close()
        browser.close()


def _is_complaint(message):
    """All but OpenSeadragon's remark on a tile that came when its bag had left the stage."""
    return message.type in ("error", "warning") and not message.text.startswith("Ignoring tile")


@pytest.fixture
def page(context):
    """A page on which nothing may go wrong unseen."""
    page, complaints = context.new_page(), []
    page.on("console", lambda message: _is_complaint(message) and complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("dialog", lambda dialog: complaints.append(f"a name ran as code: {dialog.message}"))
    yield page
    page.close()
    assert complaints == []


def visit(page, **words):
    from urllib.parse import urlencode

    page.goto("about:blank")  # a change of the words behind # alone would not load the page
    page.goto(f"/#{urlencode(words)}")
    page.wait_for_selector("#views[data-drawn]")
    return page


def drawn(page, *words):
    """Wait until the stage shows what these words say."""
    shown = "words => words.every(word => JSON.parse(document.querySelector('#views').dataset.drawn).includes(word))"
    page.wait_for_function(shown, arg=[*words])


def names(page):
    return page.eval_on_selector_all("#bags tbody tr", "rows => rows.map(row => row.dataset.bag)")


def screen_places(page, pane=0, extent=(COLUMNS * SIZE, ROWS * SIZE), within=SIZE / 2):
    """Where points ``within`` tiles, by default their middles, lie in a pane that shows all of ``extent``."""
    box = page.locator(".pane").nth(pane).evaluate("pane => [pane.clientWidth, pane.clientHeight]")
    scale = min(box[0] / extent[0], box[1] / extent[1])
    left, top = (box[0] - extent[0] * scale) / 2, (box[1] - extent[1] * scale) / 2
    return lambda position: (left + (position[0] + within) * scale, top + (position[1] + within) * scale)


def overlay_colours(page, positions, pane=0, **tiles):
    """Red, green, blue and opacity that the overlay has in the middle of each tile."""
    place = screen_places(page, pane, **tiles)
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


def test_the_list_shows_every_bag_with_its_probability_to_the_last_digit(page, shown):
    visit(page)
    bags = shown.bags(0)
    assert names(page) == [bag["name"] for bag in bags]
    assert page.locator("#bag-name").inner_text() == bags[0]["name"]
    assert page.locator("#chance").inner_text() == bags[0]["probabilities"][1]
    titles = page.eval_on_selector_all("#bags tbody tr", "rows => rows.map(row => row.cells[2].title)")
    assert titles == [bag["probabilities"][1] for bag in bags]


def test_names_are_text_and_never_markup(page, shown):
    visit(page)
    for number, bag in enumerate(shown.bags(0)):
        page.locator("#bags tbody tr").nth(number).click()
        drawn(page, bag["name"])
        assert page.locator("#bag-name").inner_text().split() == bag["name"].split()
    assert any(odd in bag["name"] for odd in ODD_NAMES for bag in shown.bags(0))
    assert page.locator("#bags img, #bag-name img").count() == 0


def test_a_click_on_a_title_sorts_and_a_second_one_turns_it_round(page, shown):
    visit(page)
    expected = [bag["name"] for bag in sorted(shown.bags(0), key=lambda bag: float(bag["probabilities"][1]))]
    page.click("[data-sort=probability]")
    assert names(page) == expected
    assert page.locator("th:has([data-sort=probability])").get_attribute("aria-sort") == "ascending"
    page.click("[data-sort=probability]")
    assert names(page) == expected[::-1]


def test_the_list_is_filtered_by_words_and_by_right_or_wrong(page, shown):
    visit(page)
    page.fill("#search", "DARK/ =cmd")
    assert names(page) == [bag["name"] for bag in shown.bags(0) if "=cmd" in bag["name"] and "dark" in bag["name"]]
    page.fill("#search", "")
    page.select_option("#which", "wrong")
    assert names(page) == [bag["name"] for bag in shown.bags(0) if not bag["right"]]


@pytest.mark.parametrize(
    ("layer", "scale"), [("weight", "raw"), ("weight", "log"), ("contribution", "rank"), ("probability", "paper")]
)
def test_the_map_has_the_librarys_colours_at_the_tiles_places(page, shown, layer, scale):
    bag = shown.bags(0)[2]
    visit(page, bag=bag["name"], layer=layer, scale=scale, opacity=1)
    show = shown.show(0, 2)
    positions, values = show.shown.bag(2).positions, show.layers.values(layer, 2, 1)
    signed = layer == "contribution"
    scaled = (to_signed_scale if signed else to_scale)(values, scale)
    found = overlay_colours(page, positions)
    assert (found[:, 3] == 255).all()
    np.testing.assert_allclose(found[:, :3], coloured(scaled.values, colouring(signed)), atol=4)  # float32, 257 steps
    caption = page.locator("#legend figcaption").inner_text()
    assert scaled.words in caption
    assert signed == ("contribution to light" in caption)


def test_contributions_can_be_seen_for_another_class(page, shown):
    visit(page, layer="contribution", opacity=1)
    page.select_option("#class", "dark")
    drawn(page, "dark")
    assert "contribution to dark" in page.locator("#legend figcaption").inner_text()
    show = shown.show(0, 0)
    scaled = to_signed_scale(show.layers.values("contribution", 0, 0), "raw")
    found = overlay_colours(page, show.shown.bag(0).positions)
    np.testing.assert_allclose(found[:, :3], coloured(scaled.values, colouring(True)), atol=4)


def test_what_takes_long_is_said_and_the_choices_are_there_meanwhile(page):
    visit(page)
    held = []
    page.route("**/layers/contribution/**", lambda route: held.append(route))
    page.locator("label[for=layer-contribution]").click()
    page.wait_for_selector("#busy:not([hidden])")
    assert "computing: contribution to" in page.locator("#busy").inner_text()
    assert page.locator("#class-field").is_visible()
    page.select_option("#scale", "rank")
    while held:
        held.pop().continue_()
    page.unroute("**/layers/contribution/**")
    drawn(page, "contribution", "rank")
    page.wait_for_selector("#busy", state="hidden")  # once the answer to the first question, no longer wanted, is in


def test_the_range_leaves_tiles_out(page, shown):
    visit(page, scale="rank", opacity=1)
    layers = shown.show(0, 0).layers
    ranks = to_scale(layers.weights(0), "rank").values
    page.locator("#from").fill("0.5")
    page.wait_for_function(
        f"document.querySelector('#shown-count').textContent.startsWith('{int((ranks >= 0.5).sum())} of')"
    )
    found = overlay_colours(page, shown.show(0, 0).shown.bag(0).positions)
    np.testing.assert_array_equal(found[:, 3] > 0, ranks >= 0.5)


@pytest.mark.parametrize("share", [0.06, 0.5, 0.94])
def test_tiles_that_lie_on_no_grid_are_drawn_to_their_edges_without_a_picture(page, shown, share):
    visit(page, run="scattered", opacity=1)
    show = shown.show(3, 0)
    positions = show.shown.bag(0).positions
    extent, within = positions.max(axis=0) + SCATTERED, share * SCATTERED
    outside = positions - within - 0.06 * SCATTERED  # just before the upper left corner
    found = overlay_colours(page, np.concatenate([positions, outside]), extent=extent, within=within)
    colours = coloured(to_scale(show.layers.weights(0), "raw").values, colouring(False))
    inside, beyond = np.split(found, 2)
    np.testing.assert_allclose(inside, np.column_stack([colours, np.full(len(colours), 255)]), atol=4)
    assert (beyond[:, 3] == 0).all()


def test_a_click_on_a_tile_shows_its_numbers(page, shown):
    visit(page)
    positions = shown.show(0, 0).shown.bag(0).positions
    x, y = screen_places(page)(positions[9])
    page.locator(".pane").click(position={"x": x, "y": y})
    told = shown.instance(0, 0, 9)
    page.wait_for_selector(f"#instance dd:text-is('{told['weight']}')")
    panel = page.locator("#instance").inner_text()
    assert "Instance 9" in panel
    assert f"{told['rank']} of {len(positions)}" in panel
    assert page.locator(f"#instance dd[title='{told['contributions'][1]}']").count() >= 1
    assert "instance 9, weight" in page.locator("#live").inner_text()


def test_keys_walk_through_bags_instances_layers_and_scales(page, shown):
    visit(page)
    bags, weights = shown.bags(0), shown.show(0, 1).layers.weights(1)
    page.keyboard.press("j")
    drawn(page, bags[1]["name"])
    order = np.argsort(-weights, kind="stable")
    for instance in order[:3]:
        page.keyboard.press("n")
        page.wait_for_selector(f"#instance-title:has-text('Instance {instance} ')")
    page.keyboard.press("p")
    page.wait_for_selector(f"#instance-title:has-text('Instance {order[1]} ')")
    page.keyboard.press("2")
    drawn(page, "contribution")
    page.keyboard.press("s")
    drawn(page, "rank")
    page.keyboard.press("?")
    assert page.locator("#help").is_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("k")
    drawn(page, bags[0]["name"])


def test_a_link_leads_back_to_the_same_view(page, shown):
    visit(page, run="instances", bag=shown.bags(1)[3]["name"])
    page.keyboard.press("2")
    drawn(page, "contribution")
    page.select_option("#scale", "log")
    drawn(page, "log")
    before = page.locator("#views").get_attribute("data-drawn")
    address = page.url
    page.goto("about:blank")
    page.goto(address)
    page.wait_for_selector("#views[data-drawn]")
    assert page.locator("#views").get_attribute("data-drawn") == before
    page.keyboard.press("j")
    drawn(page, shown.bags(1)[4]["name"])
    page.go_back()
    drawn(page, shown.bags(1)[3]["name"])


def test_a_link_into_an_open_page_and_the_way_past_the_list_keep_the_view(page):
    name = names(visit(page))[2]
    visit(page, bag=name)
    page.evaluate("name => location.hash = new URLSearchParams({ bag: name, layer: 'contribution' })", name)
    drawn(page, name, "contribution")
    page.locator(".skip").focus()
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "stage"
    drawn(page, name, "contribution")


def test_after_a_drawing_that_failed_the_next_choice_is_drawn(page):
    visit(page, layer="nonsense", scale="nonsense")
    drawn(page, "weight", "raw")
    page.goto("about:blank")
    page.route("**/layers/contribution/**", lambda route: route.fulfill(status=200, body=""))  # no numbers
    page.goto("/#layer=contribution")
    page.wait_for_selector("#problem:not([hidden])")
    page.keyboard.press("n")
    page.locator("label[for=layer-weight]").click()
    page.wait_for_selector("#views[data-drawn]")
    drawn(page, "weight")
    assert page.locator("#problem").is_hidden()


def test_two_views_stay_at_the_same_place(page, shown):
    visit(page, beside="/picture")
    positions = shown.show(0, 0).shown.bag(0).positions
    assert page.locator(".pane-title").all_inner_texts() == ["image", "map"]
    assert (overlay_colours(page, positions, pane=0)[:, 3] == 0).all()
    assert (overlay_colours(page, positions, pane=1)[:, 3] > 0).all()
    corner = {"x": 30, "y": screen_places(page)(positions[0])[1]}

    def below(pane):
        page.evaluate("location.hash = location.hash.replace(/&?instance=[0-9]+/, '')")
        page.wait_for_function("document.querySelector('#instance-title').textContent.startsWith('No instance')")
        page.locator(".pane").nth(pane).click(position=corner)
        page.wait_for_function("document.querySelector('#instance-title').textContent.startsWith('Instance')")
        page.wait_for_timeout(350)  # two quick clicks would be a double click
        return page.locator("#instance-title").inner_text()

    before = below(0)
    assert below(1) == before
    page.locator(".pane").nth(0).hover(position={"x": 300, "y": 300})
    for _ in range(4):
        page.mouse.wheel(0, -400)
        page.wait_for_timeout(60)
    page.wait_for_timeout(300)
    after = below(0)
    assert after != before
    assert below(1) == after


def test_two_models_stand_beside_each_other_with_their_own_numbers(page, shown):
    visit(page, beside="instances", layer="contribution", opacity=1)
    positions = shown.show(0, 0).shown.bag(0).positions
    for pane, run in enumerate((0, 1)):
        scaled = to_signed_scale(shown.show(run, 0).layers.values("contribution", 0, 1), "raw")
        found = overlay_colours(page, positions, pane)
        np.testing.assert_allclose(found[:, :3], coloured(scaled.values, colouring(True)), atol=4)
    titles = page.locator(".pane-title").all_inner_texts()
    assert titles[0].startswith("attention: ")
    assert titles[1].startswith("instances: ")


def test_exports_have_the_librarys_numbers(page, shown):
    visit(page, bag=shown.bags(0)[1]["name"], opacity=1)
    show = shown.show(0, 1)
    rows = list(csv.DictReader(io.StringIO(downloaded(page, "#export-csv").decode(), newline="")))
    expected = instance_rows(show.shown, show.layers, 1)
    assert rows == [{title: str(value) for title, value in row.items()} for row in expected]
    features = json.loads(downloaded(page, "#export-geojson"))["features"]
    found = [feature["properties"]["measurements"]["weight"] for feature in features]
    assert found == show.layers.weights(1).astype(float).tolist()
    picture = np.asarray(Image.open(io.BytesIO(downloaded(page, "#export-png"))).convert("RGB"))
    positions, place = show.shown.bag(1).positions, screen_places(page)
    colours = coloured(to_scale(show.layers.weights(1), "raw").values, colouring(False))
    for position, colour in zip(positions, colours, strict=True):
        x, y = place(position)
        np.testing.assert_allclose(picture[int(y), int(x)], colour, atol=4)


def downloaded(page, button):
    with page.expect_download() as download:
        page.click(button)
    return download.value.path().read_bytes()


def test_digits_stand_in_a_grid_the_heaviest_first_and_key_ones_framed(page, shown):
    visit(page, run="digits")
    show = shown.show(2, 0)
    order = np.argsort(-show.layers.weights(0), kind="stable").tolist()
    cards = page.locator("#views [data-instance]")
    assert [int(card.get_attribute("data-instance")) for card in cards.all()] == order
    framed = [int(card.get_attribute("data-instance")) for card in page.locator("#views .key").all()]
    assert sorted(framed) == np.flatnonzero(show.shown.bag(0).instance_labels > 0).tolist()
    page.uncheck("#frames")
    page.wait_for_function("document.querySelectorAll('#views .key').length === 0")
    cards.nth(1).click()
    page.wait_for_selector(f"#instance dd:text-is('{shown.instance(2, 0, order[1])['weight']}')")
    assert page.locator("#strip").is_hidden()
    assert page.locator("#export-geojson").is_hidden()
    assert Image.open(io.BytesIO(downloaded(page, "#export-png"))).width >= 480


def test_a_second_model_of_digits_stands_on_every_card_and_in_the_picture_taken_along(page):
    alone = visit(page, run="digits")
    one = Image.open(io.BytesIO(downloaded(alone, "#export-png")))
    both = visit(page, run="digits", beside="digits again")
    assert both.locator("#views [data-instance] .other").count() == both.locator("#views [data-instance]").count() > 0
    two = Image.open(io.BytesIO(downloaded(both, "#export-png")))
    assert two.width == one.width
    assert two.height > one.height


def test_runs_of_other_seeds_say_how_far_the_weights_can_be_trusted(page, shown):
    visit(page, run="digits")
    weights = [shown.show(run, 0).layers.weights(0) for run in (2, 5)]
    spread = 100 * np.std(weights, axis=0, dtype=np.float64).sum()
    assert f"Over 2 seeds the weights deviate by {spread:.3g} % in all." in page.locator("#notes").inner_text()
    page.locator("#views [data-instance]").first.click()
    page.wait_for_selector("#instance dt:text-is('weight over 2 seeds')")


def test_without_its_data_a_run_shows_its_weights_and_why_there_is_no_more(page, shown):
    visit(page, run="moved", layer="contribution")
    weights = shown.show(4, 0).layers.weights(0)
    order = np.argsort(-weights, kind="stable").tolist()
    assert [int(card.get_attribute("data-instance")) for card in page.locator("#views [data-instance]").all()] == order
    assert "the slides were moved" in page.locator("#notes").inner_text()
    assert page.locator("#layer-contribution").is_disabled()
    assert page.locator("#problem").is_hidden()
    page.locator("#views [data-instance]").first.click()
    assert "data are not at hand" in page.locator("#instance").inner_text()


def test_light_and_dark_can_be_switched(page):
    visit(page)
    ground = "getComputedStyle(document.body).backgroundColor"
    before = page.evaluate(ground)
    page.click("#theme")
    assert page.evaluate(ground) != before
    page.click("#theme")
    assert page.evaluate(ground) == before


def test_nothing_is_wider_than_the_screen(page):
    for width, height in ((1280, 720), (2560, 1440)):
        page.set_viewport_size({"width": width, "height": height})
        visit(page, beside="/picture")
        assert page.evaluate("document.documentElement.scrollWidth") == width
        assert page.evaluate("document.documentElement.scrollHeight") == height
        assert page.locator(".pane").first.bounding_box()["height"] > height / 3


def test_every_field_and_button_has_a_name_and_the_keyboard_reaches_it(page):
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
    assert {"search", "which", "scale", "opacity", "export-png", "openseadragon-canvas"} <= reached
