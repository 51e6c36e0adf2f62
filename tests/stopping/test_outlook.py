from __future__ import annotations

import io
import json
from dataclasses import fields, replace

import numpy as np
import pytest
from rich.console import Console

from lycosa.cli.progress import Panels, Snapshot
from lycosa.stopping.forecast import Estimate, Forecast
from lycosa.stopping.forecast_calibration import calibration
from lycosa.stopping.outlook import calibration_values, forecast_line, forecast_values, outlook

FORECAST = Forecast(1000, Estimate(311.4, 240.0, 388.0), Estimate(2_134.0, 896.0, 4_849.0))
LINE = "next 1,000: about 310 relevant (240–390); about 2,100 left in reach (900–4,800)"
CALIBRATION = calibration(np.repeat([0.75, 0.15], [100, 50]), (np.arange(150) < 68).astype(float))


def shot(forecast: Forecast | None) -> Snapshot:
    values = {each.name: "" if each.type == "str" else 0 for each in fields(Snapshot)}
    return replace(Snapshot(**values), forecast=forecast)


class TestWords:
    def test_a_line(self):
        assert forecast_line(FORECAST) == LINE

    def test_nothing_is_said_of_what_is_left_where_nothing_is_known(self):
        assert forecast_line(FORECAST._replace(left=None)) == "next 1,000: about 310 relevant (240–390)"

    @pytest.mark.parametrize(
        ("value", "words"), [(0.0, "0"), (0.6, "1"), (9.4, "9"), (99.6, "100"), (104.0, "100"), (15_499.0, "15,000")]
    )
    def test_two_digits_count(self, value, words):
        assert f"about {words} relevant" in forecast_line(Forecast(1, Estimate(value, 0, 0), None))

    def test_the_outlook(self):
        assert outlook(None, None)["words"] == []
        words = outlook(FORECAST, CALIBRATION)["words"]
        assert words[0] == f"outlook: {LINE}"
        assert words[1].startswith("predictions: of the pages expected to be relevant at 70–80 %, 68% were (100)")


class TestValues:
    def test_they_are_json(self):
        values = json.loads(json.dumps(outlook(FORECAST, CALIBRATION)))
        assert values["forecast"] == {
            "pages": 1000,
            "relevant": {"value": 311.4, "low": 240.0, "high": 388.0},
            "left": {"value": 2134.0, "low": 896.0, "high": 4849.0},
        }
        assert values["calibration"] == calibration_values(CALIBRATION)
        assert values["calibration"]["bins"][1] == {
            "low": 0.7,
            "high": 0.8,
            "pages": 100,
            "predicted": 0.75,
            "found": 0.68,
        }

    def test_null_where_nothing_is_known(self):
        nothing = calibration(np.array([np.nan]), np.array([0.0]))
        assert outlook(None, nothing) == {"forecast": None, "calibration": None, "words": []}
        assert forecast_values(FORECAST._replace(left=None))["left"] is None


class TestProgress:
    def test_lines(self):
        assert LINE in shot(FORECAST).as_line()
        assert "next" not in shot(None).as_line()

    def test_json(self):
        assert json.loads(shot(FORECAST).as_json())["forecast"] == forecast_values(FORECAST)
        assert json.loads(shot(None).as_json())["forecast"] is None

    @pytest.mark.parametrize(("forecast", "is_shown"), [(FORECAST, True), (None, False)])
    def test_the_panel(self, forecast, is_shown):
        console = Console(width=150, record=True, file=io.StringIO())
        console.print(Panels("topic")._panel(shot(forecast)))
        assert (LINE in console.export_text()) is is_shown
