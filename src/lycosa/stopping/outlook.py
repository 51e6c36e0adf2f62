"""Forecast and calibration as text and as plain values for JSON."""

from __future__ import annotations

from typing import Any

from lycosa.stopping.forecast import Estimate, Forecast
from lycosa.stopping.forecast_calibration import Calibration

OUTLOOK = "outlook"
"""Name of state in the store: the outlook of a crawl that has ended, as JSON."""


def forecast_line(forecast: Forecast) -> str:
    """next 1,000: about 310 relevant (240–390); about 2,100 left in reach (900–4,800)"""
    line = f"next {forecast.pages:,}: {_about(forecast.harvest, 'relevant')}"
    return line if forecast.left is None else f"{line}; {_about(forecast.left, 'left in reach')}"


def forecast_values(forecast: Forecast) -> dict[str, Any]:
    """Harvest and left, each as value, low, high; left is null if it is unknown."""
    return {
        "pages": forecast.pages,
        "relevant": _values(forecast.harvest),
        "left": None if forecast.left is None else _values(forecast.left),
    }


def calibration_values(calibration: Calibration) -> dict[str, Any]:
    return {
        "pages": calibration.count,
        "brier": round(calibration.brier, 4),
        "brier_of_base_rate": round(calibration.brier_of_base_rate, 4),
        "error": round(calibration.error, 4),
        "bins": [{name: round(value, 4) for name, value in each._asdict().items()} for each in calibration.bins],
    }


def outlook(forecast: Forecast | None, calibration: Calibration | None) -> dict[str, Any]:
    """For the summary of a crawl: the forecast, and the accuracy of the predictions; null if unknown."""
    held = calibration if calibration is not None and calibration.count else None
    return {
        "forecast": None if forecast is None else forecast_values(forecast),
        "calibration": None if held is None else calibration_values(held),
        "words": [
            *([] if forecast is None else [f"outlook: {forecast_line(forecast)}"]),
            *([] if held is None else [f"predictions: {held.as_words()}"]),
        ],
    }


def _values(estimate: Estimate) -> dict[str, float]:
    return {name: round(value, 1) for name, value in estimate._asdict().items()}


def _about(estimate: Estimate, what: str) -> str:
    return f"about {_rounded(estimate.value)} {what} ({_rounded(estimate.low)}–{_rounded(estimate.high)})"


def _rounded(value: float) -> str:
    """Two significant digits: more would suggest a precision that is not there."""
    return f"{round(value, 2 - len(str(int(value)))) if value >= 100 else round(value):,.0f}"
